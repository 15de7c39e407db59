import { defineConfig } from "vite";

// `python3 run.py` calls this by way of page_build.py, which says where the result goes.
export default defineConfig({
  build: { outDir: "../static", emptyOutDir: true, target: "es2022" },
  // While working on the page: `npm run dev` beside a running `kiebitz serve`.
  server: { proxy: { "/api": { target: "http://127.0.0.1:8000", ws: true } } },
});
