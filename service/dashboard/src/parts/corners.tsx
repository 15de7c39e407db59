// Four handles to be dragged onto the corners of the cells; arrow keys move them too.
import { useRef } from "preact/hooks";
import { t } from "../i18n";

export type CornerPoint = [number, number];

// a1 is in front on the left for a viewer at 6 o'clock.
export const startCorners = ([width, height]: [number, number]): CornerPoint[] => [
  [width * 0.25, height * 0.8],
  [width * 0.75, height * 0.8],
  [width * 0.7, height * 0.3],
  [width * 0.3, height * 0.3],
];

const NAMES = ["cameras.a1", "cameras.frontRight", "cameras.backRight", "cameras.backLeft"] as const;

interface Props {
  size: [number, number];
  points: CornerPoint[];
  onMove: (points: CornerPoint[]) => void;
}

export function Corners({ size, points, onMove }: Props) {
  const [width, height] = size;
  const area = useRef<SVGSVGElement>(null);
  const held = useRef<number | null>(null);
  const put = (index: number, x: number, y: number) => {
    const inside = (value: number, most: number) => Math.min(Math.max(value, -most * 0.2), most * 1.2);
    onMove(points.map((point, i) => (i === index ? [inside(x, width), inside(y, height)] : point)));
  };
  const drag = (event: PointerEvent) => {
    const box = area.current?.getBoundingClientRect();
    if (held.current !== null && box) {
      put(
        held.current,
        ((event.clientX - box.left) / box.width) * width,
        ((event.clientY - box.top) / box.height) * height,
      );
    }
  };
  const keys: Record<string, CornerPoint> = {
    ArrowLeft: [-1, 0],
    ArrowRight: [1, 0],
    ArrowUp: [0, -1],
    ArrowDown: [0, 1],
  };
  return (
    <svg
      ref={area}
      class="corners"
      viewBox={`0 0 ${width} ${height}`}
      role="group"
      aria-label={t("cameras.drag")}
      onPointerMove={drag}
      onPointerUp={() => {
        held.current = null;
      }}
    >
      <polygon points={points.map((point) => point.join(",")).join(" ")} />
      {points.map(([x, y], i) => (
        // biome-ignore lint/a11y: an SVG handle with its own keys
        <g
          key={NAMES[i]}
          role="slider"
          tabindex={0}
          aria-label={t(NAMES[i]!)}
          aria-valuenow={Math.round(x)}
          aria-valuemin={0}
          aria-valuemax={width}
          aria-valuetext={`${Math.round(x)}, ${Math.round(y)}`}
          transform={`translate(${x} ${y})`}
          onPointerDown={(event) => {
            held.current = i;
            (event.currentTarget as SVGGElement).setPointerCapture(event.pointerId);
          }}
          onKeyDown={(event) => {
            const way = keys[event.key];
            if (way) {
              event.preventDefault();
              const step = event.shiftKey ? 10 : 1;
              put(i, x + way[0] * step, y + way[1] * step);
            }
          }}
        >
          <circle r={width / 32} />
          <path d={`M${-width / 60} 0H${width / 60}M0 ${-width / 60}V${width / 60}`} />
          <text y={-width / 26} text-anchor="middle" font-size={width / 36}>
            {i === 0 ? "a1" : i + 1}
          </text>
        </g>
      ))}
    </svg>
  );
}
