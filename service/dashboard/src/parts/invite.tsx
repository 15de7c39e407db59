// Inviting phones: to watch, to play, to lend a camera.
import { useState } from "preact/hooks";
import { address, post, sessionPath } from "../api";
import { t } from "../i18n";
import type { TableInfo } from "../types";
import { Dialog, playerName, Problem, useTask } from "./basics";

interface Invited {
  url: string;
  qr: string;
}

interface Choice {
  label: string;
  role: string;
  player?: string;
}

interface Props {
  info: TableInfo;
  camera?: string;
  onClose: () => void;
}

// With a camera's name only that camera is asked for.
export function InviteDialog({ info, camera, onClose }: Props) {
  const [invited, setInvited] = useState<(Invited & Choice) | null>(null);
  const [copied, setCopied] = useState(false);
  const [problem, run, busy] = useTask();
  const lend: Choice = { label: t("invite.camera"), role: "camera" };
  const people: Choice[] = [
    { label: t("invite.onlooker"), role: "onlooker" },
    ...info.players.map(({ id }) => ({
      label: t("invite.player", { name: playerName(info, id) }),
      role: "player",
      player: id,
    })),
  ];
  const choices = camera ? [lend] : [...people, lend];
  const invite = (choice: Choice) =>
    run(async () => {
      const { role, player } = choice;
      const body = { role, ...(player && { player }), ...(camera && { camera }) };
      setInvited({ ...(await post<Invited>(`${sessionPath(info.id)}/invitations`, body)), ...choice });
      setCopied(false);
    });
  return (
    <Dialog title={t("invite.title")} onClose={onClose}>
      <div class="buttons">
        {choices.map((choice) => (
          <button
            key={choice.label}
            type="button"
            disabled={busy}
            aria-pressed={invited?.label === choice.label}
            onClick={() => invite(choice)}
          >
            {choice.label}
          </button>
        ))}
      </div>
      <Problem text={problem} />
      {invited && (
        <div class="invited">
          {invited.role === "camera" && (
            <p class="hint">
              {t("invite.secure")} <a href={address("/certificate")}>{t("invite.certificate")}</a>
            </p>
          )}
          <img
            class="qr"
            alt={`${invited.label}: QR`}
            src={`data:image/svg+xml;utf8,${encodeURIComponent(invited.qr)}`}
          />
          <p class="hint">{t("invite.why")}</p>
          <button
            type="button"
            onClick={() => run(async () => {
              await navigator.clipboard.writeText(invited.url);
              setCopied(true);
            })}
          >
            {copied ? t("app.copied") : t("app.copy")}
          </button>
        </div>
      )}
    </Dialog>
  );
}
