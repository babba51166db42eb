// The page of a running gateway.

import { render } from "preact";
import { useState } from "preact/hooks";
import { format, Sentence } from "../kit";
import { setToken, token, type Way } from "./api";
import { Drops } from "./drops";
import { LivePictures, Metric, PickedPictures, Tiles, WhoHasWhat } from "./overview";
import { Past } from "./past";
import { state, useGateway } from "./state";
import { Subscribers } from "./subscribers";
import { WhatIf } from "./whatif";
import "./page.css";

function Page() {
  const { snapshot, link } = useGateway();
  const [way, setWay] = useState<Way>("download");
  if (link === "token") return <Token />;
  const now = snapshot?.ways.find((shown) => shown.way === way);
  return (
    <main>
      <Head way={way} onWay={setWay} />
      {snapshot && now ? (
        <>
          <Sentence id="fairness" mood={snapshot.fairness.includes(" NOT ") ? "bad" : "good"}>
            {snapshot.fairness}
          </Sentence>
          <Ports />
          <Tiles now={now} />
          <Drops
            way={way}
            hasClasses={now.class_count > 1}
            beside={<WhoHasWhat now={now} />}
            between={
              <>
                <LivePictures way={way} now={now} />
                <PickedPictures />
              </>
            }
          />
          <Subscribers way={way} now={now} />
          <Past way={way} />
          <WhatIf way={way} />
        </>
      ) : (
        <p class="faint">Waiting for the gateway.</p>
      )}
    </main>
  );
}

function Head(props: { way: Way; onWay: (way: Way) => void }) {
  const { snapshot, link, fault, isPaused } = useGateway();
  return (
    <>
      <div class="heading">
        <h1>
          <bdi>{snapshot?.name ?? "gateway"}</bdi>
        </h1>
        <div class="controls" role="group" aria-label="direction">
          {(["download", "upload"] as const).map((name) => (
            <button key={name} type="button" aria-pressed={props.way === name} onClick={() => props.onWay(name)}>
              {name}
            </button>
          ))}
        </div>
        <div class="controls">
          <button type="button" aria-pressed={isPaused} onClick={() => state.togglePause()}>
            {isPaused ? "go on" : "pause"}
          </button>
        </div>
        {snapshot && (
          <span class="faint" id="uptime">
            up{" "}
            <Metric name="fairwire_uptime_seconds" value={snapshot.uptime_s}>
              {duration(snapshot.uptime_s)}
            </Metric>
            ,{" "}
            <Metric name="fairwire_reloads_total" value={snapshot.reloads}>
              {format.count(snapshot.reloads)}
            </Metric>{" "}
            {snapshot.reloads === 1 ? "reload" : "reloads"}
          </span>
        )}
      </div>
      {link === "lost" && (
        <p class="notice bad" role="alert">
          No connection to the gateway{fault ? ` (${fault})` : ""}. What is shown is old; the page tries again every two
          seconds. If the gateway died, its link is as `safety.on_failure` says.
        </p>
      )}
    </>
  );
}

/** Interfaces that are down or have lost frames. */
function Ports() {
  const { snapshot } = useGateway();
  const odd = snapshot?.ports.filter((port) => !port.is_up) ?? [];
  if (odd.length === 0) return null;
  return (
    <p class="notice bad" role="alert">
      {odd.map((port) => `The interface ${port.interface} is down.`).join(" ")}
    </p>
  );
}

function Token() {
  const [typed, setTyped] = useState("");
  // The page is here again although it showed one.
  const isRefused = token() !== null;
  return (
    <main>
      <h1>fairwire gateway</h1>
      <form
        class="card token"
        onSubmit={(event) => {
          event.preventDefault();
          setToken(typed.trim());
          state.link = "connecting";
          state.changed();
          state.resume();
        }}
      >
        {isRefused && (
          <p class="notice bad" role="alert">
            The gateway refused that token. Allowed: the first line of the file that `telemetry.token_file` names.
          </p>
        )}
        <label for="token">The token of this gateway, as in the file of `telemetry.token_file`:</label>
        <div class="controls">
          <input
            id="token"
            type="password"
            autocomplete="current-password"
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
          <button type="submit" class="primary">
            show
          </button>
        </div>
        <p class="faint">It is kept until this tab is closed.</p>
      </form>
    </main>
  );
}

function duration(seconds: number): string {
  const whole = Math.floor(seconds);
  const [days, hours, minutes] = [Math.floor(whole / 86_400), Math.floor(whole / 3600) % 24, Math.floor(whole / 60) % 60];
  if (days > 0) return `${days} d ${hours} h`;
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min ${whole % 60} s` : `${whole} s`;
}

const place = document.getElementById("page");
if (place) {
  place.replaceChildren();
  render(<Page />, place);
  void state.run();
}
