// Addresses of the page: /, /t/ID/play, /games, /rules/GAME, /setup, /camera, /overlay.
import { useEffect, useState } from "preact/hooks";

export interface Route {
  parts: string[];
  query: URLSearchParams;
}

const read = (): Route => ({
  parts: location.pathname.split("/").filter(Boolean).map(decodeURIComponent),
  query: new URLSearchParams(location.search),
});

export function go(path: string, replace = false): void {
  if (replace) {
    history.replaceState(null, "", path);
  } else {
    history.pushState(null, "", path);
  }
  dispatchEvent(new PopStateEvent("popstate"));
  scrollTo(0, 0);
}

export function useRoute(): Route {
  const [route, setRoute] = useState(read);
  useEffect(() => {
    const change = () => setRoute(read());
    const click = (event: MouseEvent) => {
      const link = (event.target as Element).closest?.("a");
      const plain = !event.defaultPrevented && event.button === 0 && !event.metaKey && !event.ctrlKey;
      if (
        plain &&
        link?.origin === location.origin &&
        !link.pathname.startsWith("/api/") &&
        !link.target &&
        !link.hasAttribute("download") &&
        !link.getAttribute("href")?.startsWith("#")
      ) {
        event.preventDefault();
        go(link.pathname + link.search);
      }
    };
    addEventListener("popstate", change);
    document.addEventListener("click", click);
    return () => {
      removeEventListener("popstate", change);
      document.removeEventListener("click", click);
    };
  }, []);
  return route;
}
