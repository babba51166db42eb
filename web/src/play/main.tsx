import { render } from "preact";
import { App } from "./app";
import { EXERCISES, Exercises } from "./exercises";

const place = document.getElementById("page");
if (place) {
  place.replaceChildren();
  addEventListener("hashchange", () => location.reload()); // a link, or somebody put another address here
  render(location.hash === EXERCISES ? <Exercises /> : <App />, place);
}
