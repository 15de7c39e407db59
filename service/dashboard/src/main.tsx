// Where the page begins.
import { render } from "preact";
import { App } from "./app";
import { loadLanguage } from "./i18n";
import { apply } from "./prefs";
import "./style.css";

apply();
const place = document.getElementById("page");
if (place) {
  loadLanguage()
    .catch(() => undefined)
    .finally(() => render(<App />, place));
}
if ("serviceWorker" in navigator && isSecureContext && import.meta.env.PROD) {
  navigator.serviceWorker.register("/sw.js").catch(() => undefined);
}
