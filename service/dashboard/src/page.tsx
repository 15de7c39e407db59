// What runs here, told by the server itself.
import { useEffect, useState } from "preact/hooks";
import { type Health, readHealth } from "./health";

type State = { health: Health } | { problem: string } | undefined;

export function Page() {
  const [state, setState] = useState<State>();

  useEffect(() => {
    readHealth().then(
      (health) => setState({ health }),
      (error: unknown) => setState({ problem: String(error) }),
    );
  }, []);

  return (
    <main>
      <h1>Kiebitz</h1>
      <Status state={state} />
    </main>
  );
}

function Status({ state }: { state: State }) {
  if (state === undefined) {
    return <p role="status">Asking the server …</p>;
  }
  if ("problem" in state) {
    return <p role="alert">The server does not answer: {state.problem}</p>;
  }
  const { version, table } = state.health;
  return (
    <p role="status">
      Version {version} runs on this machine. {table ? `The table is ${table}.` : "No table is open."}
    </p>
  );
}
