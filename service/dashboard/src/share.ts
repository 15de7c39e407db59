// A picture of a position to send on: the board with a line of words and the score.
import { playerName } from "./parts/basics";
import { plainNumber } from "./parts/turn";
import type { TableInfo } from "./types";

const WIDTH = 1200;
const FOOT = 150;

export async function sharePicture(
  board: HTMLCanvasElement,
  info: TableInfo,
  title: string,
  words: string,
  score: Record<string, number>,
): Promise<void> {
  const height = Math.round((board.height / board.width) * WIDTH);
  const canvas = document.createElement("canvas");
  canvas.width = WIDTH;
  canvas.height = height + FOOT;
  const pen = canvas.getContext("2d")!;
  pen.fillStyle = "#1a1712";
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(board, 0, 0, WIDTH, height);
  pen.fillStyle = "#f6efe3";
  pen.font = "600 40px system-ui, sans-serif";
  pen.fillText(title, 40, height + 58);
  pen.font = "30px system-ui, sans-serif";
  pen.fillStyle = "#cfc3ae";
  const points = info.players.map(({ id }) => `${playerName(info, id)} ${plainNumber(score[id] ?? 0)}`).join("  ·  ");
  pen.fillText(points, 40, height + 108);
  pen.textAlign = "right";
  pen.fillText(words.length > 44 ? `${words.slice(0, 43)}…` : words, WIDTH - 40, height + 108);
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
  if (!blob) {
    throw new Error("canvas");
  }
  const file = new File([blob], `${info.id}.png`, { type: "image/png" });
  if (navigator.canShare?.({ files: [file] })) {
    try {
      await navigator.share({ files: [file], title });
      return;
    } catch (error) {
      if (error instanceof DOMException && error.name === "AbortError") {
        return; // the person changed his mind
      }
    }
  }
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = file.name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
