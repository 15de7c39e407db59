// Drawn textures: wood, patterns that tell colours apart, hatching, labels.
import { CanvasTexture, RepeatWrapping, SRGBColorSpace } from "three";

function texture(side: number, paint: (pen: CanvasRenderingContext2D) => void): CanvasTexture {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = side;
  const pen = canvas.getContext("2d");
  if (pen) {
    paint(pen);
  }
  const made = new CanvasTexture(canvas);
  made.wrapS = made.wrapT = RepeatWrapping;
  made.colorSpace = SRGBColorSpace;
  made.anisotropy = 4;
  return made;
}

export function woodTexture(): CanvasTexture {
  return texture(512, (pen) => {
    pen.fillStyle = "#a98459";
    pen.fillRect(0, 0, 512, 512);
    // A fixed sequence instead of chance: the same wood at every visit.
    for (let i = 0; i < 90; i++) {
      const y = (i * 137) % 512;
      pen.strokeStyle = `rgba(${i % 2 ? "70,45,20" : "230,190,140"},${0.05 + (i % 5) * 0.02})`;
      pen.lineWidth = 1 + (i % 4);
      pen.beginPath();
      pen.moveTo(0, y);
      pen.bezierCurveTo(170, y + ((i * 29) % 24) - 12, 340, y - ((i * 31) % 24) + 12, 512, y + ((i * 17) % 10));
      pen.stroke();
    }
  });
}

// Each colour has its own pattern: plain, stripes, dots, crosses, rings, waves.
export function patternTexture(rgb: number[], index: number): CanvasTexture {
  const [r = 0, g = 0, b = 0] = rgb;
  const bright = 0.3 * r + 0.59 * g + 0.11 * b > 120;
  return texture(128, (pen) => {
    pen.fillStyle = `rgb(${r},${g},${b})`;
    pen.fillRect(0, 0, 128, 128);
    pen.strokeStyle = pen.fillStyle = bright ? "rgba(40,25,0,0.33)" : "rgba(255,255,255,0.36)";
    pen.lineWidth = 9;
    paintPattern(pen, index);
  });
}

function paintPattern(pen: CanvasRenderingContext2D, index: number): void {
  pen.beginPath();
  if (index === 1) {
    for (let x = -128; x < 128; x += 32) {
      pen.moveTo(x, 128);
      pen.lineTo(x + 128, 0);
    }
  } else if (index === 2) {
    for (const x of [32, 96]) {
      for (const y of [32, 96]) {
        pen.moveTo(x + 13, y);
        pen.arc(x, y, 13, 0, 7);
      }
    }
    pen.fill();
    return;
  } else if (index === 3) {
    pen.moveTo(64, 30);
    pen.lineTo(64, 98);
    pen.moveTo(30, 64);
    pen.lineTo(98, 64);
  } else if (index === 4) {
    pen.arc(64, 64, 32, 0, 7);
  } else if (index > 4) {
    pen.moveTo(0, 64);
    pen.bezierCurveTo(40, 10, 88, 118, 128, 64);
  }
  pen.stroke();
}

export function hatchTexture(): CanvasTexture {
  return texture(128, (pen) => {
    pen.clearRect(0, 0, 128, 128);
    pen.strokeStyle = "rgba(214,31,31,0.95)";
    pen.lineWidth = 13;
    for (let x = -128; x < 128; x += 42) {
      pen.beginPath();
      pen.moveTo(x, 0);
      pen.lineTo(x + 128, 128);
      pen.stroke();
    }
  });
}

export function labelTexture(text: string): CanvasTexture {
  return texture(128, (pen) => {
    pen.font = "600 84px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillStyle = "#2b1c0c";
    pen.fillText(text, 64, 68);
  });
}

export function questionTexture(): CanvasTexture {
  return texture(128, (pen) => {
    pen.fillStyle = "#8a4b00";
    pen.strokeStyle = "#fff8e6";
    pen.lineWidth = 8;
    pen.beginPath();
    pen.arc(64, 64, 54, 0, 7);
    pen.fill();
    pen.stroke();
    pen.font = "800 84px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillStyle = "#fff8e6";
    pen.fillText("?", 64, 70);
  });
}
