// A meeting bot in one page: type what is said as `Name: text`, and it is remembered while the meeting goes on.
//
//   npx tsx bot.ts http://127.0.0.1:8460/v1/hooks/mine whsec_… < said.txt
//
// A real one has its words from a recogniser and its participants from the meeting, and does the same with them: one event a
// message, signed, sent again until it is answered 2xx, always under its first id. service/connectors/GENERIC.md has all
// events and fields. Node 20 or later, no packages; with its types stripped it runs as it is.

import { createHmac, randomUUID } from "node:crypto";
import { createInterface } from "node:readline";

interface Speaker {
  handle?: string | null;
  scope?: string;
  name?: string;
  account?: { issuer: string; subject: string };
  email?: string; // only one that the platform verified
  is_bot?: boolean;
  is_host?: boolean;
  is_room?: boolean;
  confidence?: number;
}

type Told = { key?: string; at?: string };
type Timed = { start: number; end: number; base?: "meeting" | "epoch" }; // seconds

type MeetingEvent = Told &
  (
    | { type: "began"; title?: string; zone?: string; platform?: string; invited?: Speaker[] }
    | { type: "ended"; failed?: string; duration?: number }
    | { type: "joined" | "left" | "renamed"; speaker: Speaker }
    | { type: "spoke"; speaker: Speaker; start: number; end?: number; base?: "meeting" | "epoch" }
    | ({
        type: "uttered";
        speaker?: Speaker;
        text: string;
        id?: string;
        slot?: string;
        final?: boolean;
        revision?: number;
        words?: { text: string; start: number; end: number; confidence?: number }[];
        language?: string;
        confidence?: number;
        source?: "platform" | "transcript" | "caption" | "diariser" | "chat";
      } & Timed)
    | { type: "withdrawn"; id: string }
  );

const TRIES = 8;
const AGAIN = [408, 429, 502, 503, 504];
const KEPT = 500; // and not read, by a fault of theirs
const pause = (seconds: number): Promise<void> => new Promise((done) => setTimeout(done, seconds * 1000));

class Bot {
  readonly began = Date.now();
  private readonly key: Buffer;
  private readonly url: string;
  readonly meeting: string;

  constructor(url: string, secret: string, meeting: string) {
    this.url = url;
    this.meeting = meeting;
    this.key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  }

  /** One event, until it is kept. What it says is the same each time, and so is its id. */
  async tell(event: MeetingEvent): Promise<void> {
    const body = JSON.stringify({ meeting: this.meeting, at: new Date().toISOString(), ...event });
    const id = `msg_${randomUUID()}`;
    for (let attempt = 0; attempt < TRIES; attempt++) {
      let wait = 0.5 * 2 ** attempt;
      try {
        const answer = await fetch(this.url, { method: "POST", headers: this.signed(id, body), body });
        const text = await answer.text();
        if (answer.ok) return;
        if (answer.status === KEPT) return console.error(`${answer.status}: ${text}`);
        // 401: the secret; 404: the source; 422: the event, and its field is named
        if (!AGAIN.includes(answer.status)) throw new Refused(`${answer.status}: ${text}`);
        wait = Number(answer.headers.get("retry-after") ?? wait);
      } catch (problem) {
        if (problem instanceof Refused) throw problem;
        console.error(`not reached (${String(problem)}); again in ${wait} s`);
      }
      await pause(wait);
    }
    throw new Refused(`given up after ${TRIES} tries`);
  }

  /** Standard Webhooks: of id, time and body, for this try. */
  private signed(id: string, body: string): Record<string, string> {
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signature = createHmac("sha256", this.key).update(`${id}.${timestamp}.${body}`).digest("base64");
    return {
      "content-type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": timestamp,
      "webhook-signature": `v1,${signature}`,
    };
  }
}

class Refused extends Error {}

async function main(url: string, secret: string): Promise<void> {
  const bot = new Bot(url, secret, `typed-${randomUUID().slice(0, 8)}`);
  const handles = new Map<string, string>();
  let number = 0;
  await bot.tell({ type: "began", title: "Typed" });
  for await (const line of createInterface({ input: process.stdin })) {
    const name = line.split(":")[0].trim();
    const text = line.slice(line.indexOf(":") + 1).trim();
    if (!line.includes(":") || !text) continue;
    if (!handles.has(name)) {
      handles.set(name, `p${handles.size + 1}`);
      await bot.tell({ type: "joined", speaker: { handle: handles.get(name), name } });
    }
    const end = (Date.now() - bot.began) / 1000;
    const start = Math.max(0, end - 0.4 * text.split(/\s+/).length);
    await bot.tell({ type: "uttered", id: `u${number++}`, speaker: { handle: handles.get(name) }, text, start, end });
  }
  await bot.tell({ type: "ended" });
  console.log(`${bot.meeting}: ${handles.size} people`);
}

main(process.argv[2], process.argv[3]).catch((problem: unknown) => {
  console.error(problem instanceof Error ? problem.message : problem);
  process.exit(1);
});
