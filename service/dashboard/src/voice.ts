// Speaking alerts aloud with the device's own voices; nothing leaves the device.
import { currentPrefs } from "./prefs";
import { language } from "./i18n";

export const canSpeak = () => "speechSynthesis" in window;

export function speak(text: string): void {
  if (!currentPrefs().voice || !canSpeak()) {
    return;
  }
  const words = new SpeechSynthesisUtterance(text);
  words.lang = language();
  speechSynthesis.cancel();
  speechSynthesis.speak(words);
}
