// Phone as camera: scan, allow, prop up. Pictures go one by one; the next waits for the answer.
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, sessionPath, socketAddress } from "../api";
import { t } from "../i18n";
import { Problem } from "../parts/basics";

const WIDTH = 1280;
const QUALITY = 0.85;

export function PhonePage({ session, name }: { session: string; name: string }) {
  const video = useRef<HTMLVideoElement>(null);
  const [running, setRunning] = useState(false);
  const [problem, setProblem] = useState("");
  const [sent, setSent] = useState({ n: 0, rate: 0 });
  const stop = useRef<() => void>(() => undefined);
  useEffect(() => () => stop.current(), []);

  const start = async () => {
    setProblem("");
    if (!navigator.mediaDevices) {
      setProblem(t("phone.insecure"));
      return;
    }
    try {
      const stream = await navigator.mediaDevices.getUserMedia({
        audio: false,
        video: {
          facingMode: { ideal: "environment" },
          width: { ideal: 1280 },
          height: { ideal: 720 },
          frameRate: { ideal: 15, max: 30 },
        },
      });
      const target = video.current;
      if (!target) {
        return;
      }
      target.srcObject = stream;
      await target.play();
      const lock = await navigator.wakeLock?.request("screen").catch(() => undefined);
      const path = `${sessionPath(session)}/cameras/${encodeURIComponent(name)}`;
      const sender = sendPictures(target, path, setSent, setProblem);
      setRunning(true);
      stop.current = () => {
        sender();
        for (const track of stream.getTracks()) {
          track.stop();
        }
        void lock?.release();
        setRunning(false);
        stop.current = () => undefined;
      };
    } catch (error) {
      setProblem(t("phone.denied", { why: error instanceof Error ? error.message : String(error) }));
    }
  };
  return (
    <div class="page narrow phone">
      <h1>{t("phone.title")}</h1>
      <p>{t("phone.why")}</p>
      {!isSecureContext && <p class="alert breach">{t("phone.insecure")}</p>}
      <div class="viewfinder">
        <video ref={video} muted playsInline aria-label={t("phone.title")} />
        <span class="guide" aria-hidden="true" />
      </div>
      <div class="buttons">
        {running ? (
          <button type="button" onClick={() => stop.current()}>
            {t("phone.stop")}
          </button>
        ) : (
          <button type="button" class="primary" disabled={!isSecureContext} onClick={start}>
            {t("phone.start")}
          </button>
        )}
      </div>
      {running && (
        <p role="status">
          {t("phone.sending", { n: sent.n, rate: sent.rate.toFixed(1) })} {t("phone.awake")}
        </p>
      )}
      <Problem text={problem} />
    </div>
  );
}

type Tell<T> = (value: T) => void;

// Send picture after picture until the returned function is called.
function sendPictures(
  video: HTMLVideoElement,
  path: string,
  told: Tell<{ n: number; rate: number }>,
  trouble: Tell<string>,
): () => void {
  const canvas = document.createElement("canvas");
  const scale = Math.min(1, WIDTH / video.videoWidth);
  canvas.width = Math.round(video.videoWidth * scale);
  canvas.height = Math.round(video.videoHeight * scale);
  const pen = canvas.getContext("2d")!;
  let ended = false;
  let n = 0;
  const since = performance.now();
  const picture = async (): Promise<Blob> => {
    pen.drawImage(video, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/jpeg", QUALITY));
    if (!blob) {
      throw new Error("JPEG");
    }
    return blob;
  };
  const count = () => {
    n += 1;
    told({ n, rate: n / Math.max(0.001, (performance.now() - since) / 1000) });
  };
  let socket: WebSocket | null = null;
  const open = () => {
    let worked = false;
    socket = new WebSocket(socketAddress(`${path}/upload`));
    socket.onopen = async () => {
      worked = true;
      socket?.send(await picture());
    };
    socket.onmessage = async (message) => {
      const answer = JSON.parse(message.data as string) as { ok: boolean; problem: string | null };
      trouble(answer.problem ?? "");
      count();
      // At most some fifteen a second: more would only warm the phone.
      setTimeout(async () => {
        if (!ended && socket?.readyState === WebSocket.OPEN) {
          socket.send(await picture());
        }
      }, 30);
    };
    socket.onclose = (closing) => {
      if (ended) {
        return;
      }
      if (closing.code === 1008) {
        trouble(closing.reason);
      } else if (worked) {
        setTimeout(open, 1000);
      } else {
        void postPictures(); // some phones refuse sockets to certificates they only tolerate
      }
    };
  };
  const postPictures = async () => {
    trouble(t("phone.slow"));
    while (!ended) {
      try {
        await ask("POST", `${path}/frame`, await picture());
        count();
      } catch (error) {
        trouble(error instanceof Error ? error.message : String(error));
        await new Promise((done) => setTimeout(done, 1500));
      }
    }
  };
  open();
  return () => {
    ended = true;
    socket?.close();
  };
}
