import { render } from "preact";
import { Sentence } from "../kit";

function Page() {
  return (
    <main>
      <h1>fairwire play</h1>
      <Sentence>Nothing is connected yet.</Sentence>
    </main>
  );
}

const place = document.getElementById("page");
if (place) render(<Page />, place);
