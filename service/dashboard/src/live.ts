// A session as it happens: a snapshot first, then numbered events; a lost connection resumes.
import { useEffect, useRef, useState } from "preact/hooks";
import { sessionPath, socketAddress } from "./api";
import { type GameEvent, take } from "./state";
import type { PlayState, TableInfo } from "./types";

export interface Live {
  info: TableInfo;
  state: PlayState;
}

export interface Connection {
  live: Live | null;
  connected: boolean;
  refused: string | null;
}

const REFUSED = 1008;
const LONGEST_WAIT_MS = 8000;

export function useLive(session: string, onEvent?: (event: GameEvent) => void): Connection {
  const [connection, setConnection] = useState<Connection>({
    live: null,
    connected: false,
    refused: null,
  });
  const heard = useRef(onEvent);
  heard.current = onEvent;

  useEffect(() => {
    let socket: WebSocket | null = null;
    let seq: number | null = null;
    let wait = 250;
    let timer = 0;
    let ended = false;
    setConnection({ live: null, connected: false, refused: null });

    const open = () => {
      const since = seq === null ? "" : `?since=${seq}`;
      socket = new WebSocket(socketAddress(`${sessionPath(session)}/live${since}`));
      socket.onmessage = (message) => {
        wait = 250;
        const event = JSON.parse(message.data as string) as GameEvent;
        seq = event.seq;
        setConnection((before) => ({ live: follow(before.live, event), connected: true, refused: null }));
        if (event.event !== "snapshot") {
          heard.current?.(event);
        }
      };
      socket.onopen = () => setConnection((before) => ({ ...before, connected: true }));
      socket.onclose = (closing) => {
        if (ended) {
          return;
        }
        const refused = closing.code === REFUSED ? closing.reason || "?" : null;
        setConnection((before) => ({ ...before, connected: false, refused }));
        if (refused === null) {
          timer = window.setTimeout(open, wait);
          wait = Math.min(wait * 2, LONGEST_WAIT_MS);
        }
      };
    };
    open();
    // A phone that wakes up should not wait for the next try.
    const wake = () => {
      if (document.visibilityState === "visible" && socket?.readyState === WebSocket.CLOSED) {
        window.clearTimeout(timer);
        open();
      }
    };
    document.addEventListener("visibilitychange", wake);
    return () => {
      ended = true;
      window.clearTimeout(timer);
      document.removeEventListener("visibilitychange", wake);
      socket?.close();
    };
  }, [session]);

  return connection;
}

function follow(live: Live | null, event: GameEvent): Live | null {
  if (event.event === "snapshot") {
    const { state, ...info } = event as unknown as TableInfo & { state: PlayState };
    return { info, state };
  }
  return live && { ...live, state: take(live.state, event) };
}
