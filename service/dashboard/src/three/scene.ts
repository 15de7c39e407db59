// The 3D board: pieces as they stand, with marks; drawn only when something changes.
import {
  AmbientLight,
  BackSide,
  BoxGeometry,
  type BufferGeometry,
  Color,
  DirectionalLight,
  EdgesGeometry,
  Group,
  HemisphereLight,
  LineBasicMaterial,
  LineDashedMaterial,
  LineSegments,
  type Material,
  Mesh,
  MeshBasicMaterial,
  MeshStandardMaterial,
  type Object3D,
  PCFShadowMap,
  PerspectiveCamera,
  PlaneGeometry,
  Raycaster,
  RingGeometry,
  Scene,
  Sprite,
  SpriteMaterial,
  SRGBColorSpace,
  Vector2,
  Vector3,
  WebGLRenderer,
} from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { RoundedBoxGeometry } from "three/addons/geometries/RoundedBoxGeometry.js";
import { type Piece, cellsOf } from "../pieces";
import { cellName, cellOf } from "../state";
import type { BoardInfo, ColourInfo, Extent, Stacks } from "../types";
import { hatchTexture, labelTexture, patternTexture, questionTexture, woodTexture } from "./textures";

export interface View {
  stacks: Stacks;
  pieces: Piece[];
  last: Piece[];
  illegal: Piece[];
  legal: string[];
  missing: Piece[];
  surplus: Piece[];
  unsure: string[];
  patterns: boolean;
  upTo: number;
}

const DROP_MS = 320;
const PICTURE = [1200, 900] as const; // of what is shared

export class BoardScene {
  private readonly scene = new Scene();
  private readonly camera = new PerspectiveCamera(38, 1, 1, 6000);
  private readonly renderer: WebGLRenderer;
  private readonly controls: OrbitControls;
  private readonly pieces = new Group();
  private readonly marks = new Group();
  private readonly question = questionTexture();
  private readonly standing = new Map<string, Mesh>();
  private readonly materials = new Map<string, MeshStandardMaterial>();
  private readonly boxes = new Map<string, RoundedBoxGeometry>();
  private readonly hatch = hatchTexture();
  private readonly size: { x: number; y: number; z: number };
  private readonly watcher: ResizeObserver;
  private drops: { mesh: Object3D; from: number; to: number; since: number }[] = [];
  private asked = 0;
  private pressed = { x: 0, y: 0 };
  private patterned: boolean | undefined;
  private highest = 0;
  private tops: Vector3[] = [];
  private touched = false;

  constructor(
    private readonly host: HTMLElement,
    private readonly board: BoardInfo,
    private readonly colours: Record<string, ColourInfo>,
    private readonly onCell: (cell: string) => void,
  ) {
    const { pitch_mm: pitch, unit_mm: unit } = board;
    this.size = { x: board.columns * pitch, y: board.ranks * pitch, z: board.levels * unit[2] };
    this.renderer = new WebGLRenderer({ antialias: true, alpha: true, preserveDrawingBuffer: true });
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.renderer.outputColorSpace = SRGBColorSpace;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.renderer.domElement.setAttribute("aria-hidden", "true");
    host.append(this.renderer.domElement);
    this.light();
    this.table();
    this.scene.add(this.pieces, this.marks);
    this.controls = new OrbitControls(this.camera, this.renderer.domElement);
    this.controls.maxPolarAngle = Math.PI * 0.49;
    this.controls.enablePan = false;
    this.controls.addEventListener("change", () => this.draw());
    this.controls.addEventListener("start", () => {
      this.touched = true;
    });
    this.renderer.domElement.addEventListener("pointerdown", this.press);
    this.renderer.domElement.addEventListener("pointerup", this.release);
    this.watcher = new ResizeObserver(() => this.resize());
    this.watcher.observe(host);
    this.resize();
    this.reset();
  }

  private isWall(): boolean {
    return this.board.ranks === 1;
  }

  private light(): void {
    const reach = Math.max(this.size.x, this.size.y, this.size.z);
    const sun = new DirectionalLight(0xfff3e0, 2.4);
    sun.position.set(-0.5 * reach, 1.6 * reach, 0.9 * reach);
    sun.castShadow = true;
    sun.shadow.mapSize.set(1024, 1024);
    sun.shadow.normalBias = 0.6;
    Object.assign(sun.shadow.camera, {
      left: -reach,
      right: reach,
      top: reach,
      bottom: -reach,
      near: 1,
      far: 4 * reach,
    });
    this.scene.add(sun, new HemisphereLight(0xffffff, 0x8a7a66, 1.1), new AmbientLight(0xffffff, 0.35));
  }

  private table(): void {
    const { columns, ranks, pitch_mm: pitch } = this.board;
    const margin = pitch * 0.75;
    const thick = pitch * 0.3;
    const wood = new MeshStandardMaterial({ map: woodTexture(), roughness: 0.85 });
    const plate = new Mesh(
      new RoundedBoxGeometry(this.size.x + 2 * margin, thick, this.size.y + 2 * margin, 3, thick * 0.3),
      wood,
    );
    plate.position.y = -thick / 2 - 0.2;
    plate.receiveShadow = true;
    plate.name = "plate";
    this.scene.add(plate);
    const inset = new MeshStandardMaterial({ color: 0x7b5f43, roughness: 0.95 });
    const cell = new PlaneGeometry(pitch * 0.92, pitch * 0.92);
    for (let file = 0; file < columns; file++) {
      for (let rank = 0; rank < ranks; rank++) {
        const place = new Mesh(cell, inset);
        place.rotation.x = -Math.PI / 2;
        const [x, z] = this.at(file, rank);
        place.position.set(x, 0.05, z);
        place.receiveShadow = true;
        place.userData = { cells: [cellName(file, rank)] };
        this.scene.add(place);
      }
    }
    for (let file = 0; file < columns; file++) {
      const [x] = this.at(file, 0);
      this.label(String.fromCharCode(97 + file), x, this.size.y / 2 + margin * 0.5);
    }
    for (let rank = 0; rank < ranks; rank++) {
      const [, z] = this.at(0, rank);
      this.label(String(rank + 1), -this.size.x / 2 - margin * 0.5, z);
    }
  }

  private label(text: string, x: number, z: number): void {
    const side = this.board.pitch_mm * 0.6;
    const material = new MeshBasicMaterial({ map: labelTexture(text), transparent: true });
    const mesh = new Mesh(new PlaneGeometry(side, side), material);
    mesh.rotation.x = -Math.PI / 2;
    mesh.position.set(x, 0.4, z);
    this.scene.add(mesh);
  }

  private at(file: number, rank: number): [number, number] {
    const { pitch_mm: pitch } = this.board;
    return [(file + 0.5) * pitch - this.size.x / 2, this.size.y / 2 - (rank + 0.5) * pitch];
  }

  // Where the middle of a piece is.
  private spot({ cell, level, extent }: Piece): Vector3 {
    const { file, rank } = cellOf(cell);
    const [x, z] = this.at(file + (extent[0] - 1) / 2, rank + (extent[1] - 1) / 2);
    return new Vector3(x, (level - 1 + extent[2] / 2) * this.board.unit_mm[2], z);
  }

  // How long a piece is: whole units, and the gaps between the cells that it covers.
  private lengths([wide, deep, high]: Extent): { x: number; y: number; z: number } {
    const { pitch_mm: pitch, unit_mm: unit } = this.board;
    return { x: (wide - 1) * pitch + unit[0], y: high * unit[2], z: (deep - 1) * pitch + unit[1] };
  }

  private box(extent: Extent): RoundedBoxGeometry {
    const key = extent.join();
    let box = this.boxes.get(key);
    if (!box) {
      const { x, y, z } = this.lengths(extent);
      box = new RoundedBoxGeometry(x, y, z, 3, Math.min(...this.board.unit_mm) * 0.08);
      evenPattern(box, { x, y, z }, Math.max(...this.board.unit_mm));
      this.boxes.set(key, box);
    }
    return box;
  }

  private material(letter: string, patterns: boolean): MeshStandardMaterial {
    let material = this.materials.get(letter);
    if (!material) {
      const rgb = this.colours[letter]?.rgb ?? [150, 150, 150];
      material = new MeshStandardMaterial({ roughness: 0.6 });
      if (patterns) {
        material.map = patternTexture(rgb, Object.keys(this.colours).indexOf(letter));
      } else {
        material.color = new Color().setRGB(rgb[0] / 255, rgb[1] / 255, rgb[2] / 255, SRGBColorSpace);
      }
      this.materials.set(letter, material);
    }
    return material;
  }

  show(view: View): void {
    if (this.patterned !== view.patterns) {
      this.patterned = view.patterns;
      this.clearPieces();
    }
    this.place(view);
    this.mark(view);
    const seen = [...view.pieces, ...view.missing];
    const highest = Math.max(0, ...seen.map(({ level, extent }) => level - 1 + extent[2]));
    this.tops = seen.flatMap((piece) => this.upperCorners(piece));
    // What stands further back reaches further up, though it may be no higher.
    const grown = highest !== this.highest || !this.tops.every((corner) => this.inPicture(corner));
    this.highest = highest;
    if (grown && !this.touched) {
      this.fit();
    }
    this.draw();
  }

  private clearPieces(): void {
    for (const mesh of this.standing.values()) {
      this.pieces.remove(mesh);
    }
    this.standing.clear();
    this.drops = [];
    for (const material of this.materials.values()) {
      material.map?.dispose();
      material.dispose();
    }
    this.materials.clear();
  }

  private place(view: View): void {
    const wanted = new Map<string, Piece>();
    for (const piece of view.pieces) {
      if (piece.level <= view.upTo) {
        wanted.set(`${piece.cell}.${piece.level}.${piece.extent.join("x")}.${piece.colour}`, piece);
      }
    }
    for (const [key, mesh] of this.standing) {
      if (!wanted.has(key)) {
        this.pieces.remove(mesh);
        this.standing.delete(key);
        this.drops = this.drops.filter((drop) => drop.mesh !== mesh);
      }
    }
    const animate = this.standing.size > 0 && !matchMedia("(prefers-reduced-motion: reduce)").matches;
    for (const [key, piece] of wanted) {
      if (this.standing.has(key)) {
        continue;
      }
      const mesh = new Mesh(this.box(piece.extent), this.material(piece.colour, view.patterns));
      mesh.castShadow = mesh.receiveShadow = true;
      mesh.userData = { cells: cellsOf(piece) };
      mesh.position.copy(this.spot(piece));
      if (animate) {
        const to = mesh.position.y;
        mesh.position.y = to + this.board.unit_mm[2] * 2;
        this.drops.push({ mesh, from: mesh.position.y, to, since: performance.now() });
      }
      this.standing.set(key, mesh);
      this.pieces.add(mesh);
    }
  }

  private mark(view: View): void {
    const shared = new Set<BufferGeometry>(this.boxes.values());
    for (const child of [...this.marks.children] as Mesh<BufferGeometry, Material>[]) {
      this.marks.remove(child);
      child.material.dispose();
      if (!shared.has(child.geometry)) {
        child.geometry.dispose();
      }
    }
    for (const mark of view.last) {
      this.frame(mark, 0xffffff, false, 1.01);
      this.halo(mark, 0x14b8a0);
    }
    for (const mark of [...view.illegal, ...view.surplus]) {
      this.hatched(mark);
      this.halo(mark, 0xd61f1f);
    }
    for (const mark of view.missing) {
      this.ghost(mark);
      this.frame(mark, 0xffffff, false, 1.0);
      this.frame(mark, 0x1b1206, true, 1.004);
    }
    for (const cell of view.legal) {
      this.ring(cell, view.stacks[cell]?.length ?? 0);
    }
    for (const cell of view.unsure) {
      this.doubt(cell, Math.min(view.stacks[cell]?.length ?? 0, view.upTo));
    }
  }

  // A question mark above a stack, in front of everything.
  private doubt(cell: string, height: number): void {
    const { file, rank } = cellOf(cell);
    const [x, z] = this.at(file, rank);
    const side = this.board.unit_mm[0];
    const sprite = new Sprite(new SpriteMaterial({ map: this.question, depthTest: false }));
    sprite.scale.setScalar(side * 0.75);
    sprite.position.set(x, height * this.board.unit_mm[2] + side * 0.4, z);
    sprite.userData = { cells: [cell] };
    this.marks.add(sprite);
  }

  private upperCorners(piece: Piece): Vector3[] {
    const { x, y, z } = this.lengths(piece.extent);
    const middle = this.spot(piece);
    return [-x, x].flatMap((dx) => [-z, z].map((dz) => middle.clone().add(new Vector3(dx / 2, y / 2, dz / 2))));
  }

  private frame(piece: Piece, colour: number, dashed: boolean, grow: number): void {
    const unit = this.board.unit_mm[0];
    const { x, y, z } = this.lengths(piece.extent);
    const air = unit * (grow - 1);
    const box = new EdgesGeometry(new BoxGeometry(x + air, y + air, z + air));
    const material = dashed
      ? new LineDashedMaterial({ color: colour, dashSize: unit * 0.14, gapSize: unit * 0.09 })
      : new LineBasicMaterial({ color: colour });
    const lines = new LineSegments(box, material);
    lines.computeLineDistances();
    lines.position.copy(this.spot(piece));
    this.marks.add(lines);
  }

  // A rim around what one sees of a piece: the inside of a box that is a little larger.
  private halo(piece: Piece, colour: number): void {
    const { x, y, z } = this.lengths(piece.extent);
    const air = this.board.unit_mm[0] * 0.16;
    const material = new MeshBasicMaterial({ color: colour, side: BackSide });
    const mesh = new Mesh(new BoxGeometry(x + air, y + air, z + air), material);
    mesh.position.copy(this.spot(piece));
    this.marks.add(mesh);
  }

  private hatched(piece: Piece): void {
    const { x, y, z } = this.lengths(piece.extent);
    const air = this.board.unit_mm[0] * 0.05;
    const box = new BoxGeometry(x + air, y + air, z + air);
    evenPattern(box, { x, y, z }, Math.max(...this.board.unit_mm));
    const material = new MeshBasicMaterial({ map: this.hatch, transparent: true, depthWrite: false });
    const mesh = new Mesh(box, material);
    mesh.position.copy(this.spot(piece));
    mesh.userData = { cells: cellsOf(piece) };
    this.marks.add(mesh);
  }

  private ghost(piece: Piece): void {
    const rgb = this.colours[piece.colour]?.rgb ?? [150, 150, 150];
    const material = new MeshBasicMaterial({
      color: new Color().setRGB(rgb[0] / 255, rgb[1] / 255, rgb[2] / 255, SRGBColorSpace),
      transparent: true,
      opacity: 0.35,
      depthWrite: false,
    });
    const mesh = new Mesh(this.box(piece.extent), material);
    mesh.position.copy(this.spot(piece));
    mesh.userData = { cells: cellsOf(piece) };
    this.marks.add(mesh);
  }

  private ring(cell: string, height: number): void {
    const { file, rank } = cellOf(cell);
    const [x, z] = this.at(file, rank);
    const pitch = this.board.pitch_mm;
    for (const [inner, outer, colour, lift] of [
      [0.16, 0.36, 0x07352f, 0.5],
      [0.2, 0.32, 0x5eead4, 0.7],
    ] as const) {
      const mesh = new Mesh(
        new RingGeometry(pitch * inner, pitch * outer, 24),
        new MeshBasicMaterial({ color: colour }),
      );
      mesh.rotation.x = -Math.PI / 2;
      mesh.position.set(x, height * this.board.unit_mm[2] + lift, z);
      mesh.userData = { cells: [cell] };
      this.marks.add(mesh);
    }
  }

  private readonly press = (event: PointerEvent) => {
    this.pressed = { x: event.clientX, y: event.clientY };
  };

  private readonly release = (event: PointerEvent) => {
    const moved = Math.hypot(event.clientX - this.pressed.x, event.clientY - this.pressed.y);
    if (moved > 6) {
      return;
    }
    const area = this.renderer.domElement.getBoundingClientRect();
    const point = new Vector2(
      ((event.clientX - area.left) / area.width) * 2 - 1,
      1 - ((event.clientY - area.top) / area.height) * 2,
    );
    const ray = new Raycaster();
    ray.setFromCamera(point, this.camera);
    for (const { object, point: where } of ray.intersectObjects(this.scene.children, true)) {
      const cells = (object.userData.cells ?? []) as string[];
      if (cells.length) {
        this.onCell(this.nearest(cells, where));
        return;
      }
    }
  };

  // Of the cells under a longer piece the one that was tapped.
  private nearest(cells: string[], where: Vector3): string {
    const far = (cell: string) => {
      const { file, rank } = cellOf(cell);
      const [x, z] = this.at(file, rank);
      return Math.hypot(where.x - x, where.z - z);
    };
    return cells.reduce((best, cell) => (far(cell) < far(best) ? cell : best));
  }

  // The camera's place from which everything is in the picture, found by trying.
  reset(): void {
    this.touched = false;
    this.fit();
  }

  private fit(): void {
    const { pitch_mm: pitch, unit_mm: unit } = this.board;
    const wall = this.isWall();
    const height = wall ? this.size.z : Math.max(pitch * 2, (this.highest + 0.4) * unit[2]);
    const slim = height > Math.max(this.size.x, this.size.y);
    this.controls.target.set(0, height * (wall || slim ? 0.46 : 0.2), 0);
    const way = wall ? new Vector3(0.16, 0.2, 1) : new Vector3(0.16, 0.86, 0.78);
    way.normalize();
    const x = this.size.x / 2 + pitch * 0.8;
    const z = this.size.y / 2 + pitch * 0.8;
    const corners = [-x, x].flatMap((cx) => [-z, z].map((cz) => new Vector3(cx, 0, cz)));
    corners.push(...this.tops);
    const fits = (far: number): boolean => {
      this.camera.position.copy(way).multiplyScalar(far).add(this.controls.target);
      this.camera.lookAt(this.controls.target);
      this.camera.updateMatrixWorld();
      return corners.every((corner) => this.inPicture(corner));
    };
    let far = 0;
    for (let round = 0; round < 3; round++) {
      let near = pitch;
      far = 5000;
      for (let i = 0; i < 22; i++) {
        const middle = (near + far) / 2;
        [near, far] = fits(middle) ? [near, middle] : [middle, far];
      }
      fits(far);
      // As much room above as below; sideways the board turns about its own middle.
      const heights = corners.map((corner) => corner.clone().project(this.camera).y);
      const off = (Math.max(...heights) + Math.min(...heights)) / 2;
      const up = new Vector3(0, 1, 0).applyQuaternion(this.camera.quaternion);
      this.controls.target.y += (off * far * Math.tan((this.camera.fov / 360) * Math.PI)) / Math.max(0.3, up.y);
    }
    fits(far);
    this.controls.minDistance = far * 0.35;
    this.controls.maxDistance = far * 2;
    this.controls.update();
    this.draw();
  }

  private inPicture(corner: Vector3): boolean {
    const seen = corner.clone().project(this.camera);
    return Math.abs(seen.x) < 0.97 && Math.abs(seen.y) < 0.95;
  }

  turn(radians: number): void {
    this.camera.position.sub(this.controls.target).applyAxisAngle(new Vector3(0, 1, 0), radians).add(this.controls.target);
    this.controls.update();
    this.draw();
  }

  tilt(radians: number): void {
    const arm = this.camera.position.clone().sub(this.controls.target);
    const side = new Vector3().crossVectors(arm, new Vector3(0, 1, 0)).normalize();
    this.camera.position.copy(arm.applyAxisAngle(side, radians).add(this.controls.target));
    this.controls.update();
    this.draw();
  }

  zoom(factor: number): void {
    this.camera.position.sub(this.controls.target).multiplyScalar(factor).add(this.controls.target);
    this.controls.update();
    this.draw();
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.host;
    if (!width || !height) {
      return;
    }
    const before = this.camera.aspect;
    this.shape(width, height);
    if (this.controls && Math.abs(before - this.camera.aspect) > 0.2) {
      this.reset();
    }
    this.draw();
  }

  private draw(): void {
    if (!this.asked) {
      this.asked = requestAnimationFrame(this.render);
    }
  }

  private readonly render = (now: number) => {
    this.asked = 0;
    this.drops = this.drops.filter(({ mesh, from, to, since }) => {
      const part = Math.min(1, Math.max(0, (now - since) / DROP_MS));
      mesh.position.y = to + (from - to) * (1 - part) ** 3;
      return part < 1;
    });
    this.renderer.render(this.scene, this.camera);
    if (this.drops.length) {
      this.draw();
    }
  };

  picture(): HTMLCanvasElement {
    this.drops.forEach(({ mesh, to }) => {
      mesh.position.y = to;
    });
    this.drops = [];
    // Drawn at its own size: that of a phone's stage would be blurred.
    const ratio = this.renderer.getPixelRatio();
    const [place, target] = [this.camera.position.clone(), this.controls.target.clone()];
    this.renderer.setPixelRatio(1);
    this.shape(...PICTURE, false);
    if (!this.touched) {
      this.fit();
    }
    this.renderer.render(this.scene, this.camera);
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = PICTURE;
    copy.getContext("2d")?.drawImage(this.renderer.domElement, 0, 0);
    this.renderer.setPixelRatio(ratio);
    this.shape(this.host.clientWidth, this.host.clientHeight);
    this.camera.position.copy(place);
    this.controls.target.copy(target);
    this.controls.update();
    this.draw();
    return copy;
  }

  private shape(width: number, height: number, shown = true): void {
    this.renderer.setSize(width, height, shown);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
  }

  dispose(): void {
    cancelAnimationFrame(this.asked);
    this.watcher.disconnect();
    this.controls.dispose();
    this.clearPieces();
    this.scene.traverse((thing) => {
      if (thing instanceof Mesh) {
        thing.geometry.dispose();
      }
    });
    this.renderer.dispose();
    this.renderer.domElement.remove();
  }
}

// Repeats the pattern with every unit of length, so that it is as large on a long piece as on a cube.
function evenPattern(box: BufferGeometry, size: { x: number; y: number; z: number }, unit: number): void {
  const { position, normal, uv } = box.attributes;
  if (!position || !normal || !uv) {
    return;
  }
  for (let i = 0; i < uv.count; i++) {
    const [nx, ny, nz] = [normal.getX(i), normal.getY(i), normal.getZ(i)].map(Math.abs) as [number, number, number];
    const [x, y, z] = [position.getX(i) + size.x / 2, position.getY(i) + size.y / 2, position.getZ(i) + size.z / 2];
    const [u, v] = nx > ny && nx > nz ? [z, y] : ny > nz ? [x, z] : [x, y];
    uv.setXY(i, u / unit, v / unit);
  }
}
