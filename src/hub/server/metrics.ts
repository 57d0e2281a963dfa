/** Counters of the hub in the text format of Prometheus. They hold no names of people, repositories or sessions. */

/** Upper bounds of the duration histogram, in seconds. */
const BOUNDS = [0.005, 0.025, 0.1, 0.5, 2.5, 10];

export class Metrics {
  readonly #requests = new Map<string, number>();
  readonly #durations = new Map<string, { buckets: number[]; sum: number; count: number }>();
  #turns = 0;
  #streams = 0;

  request(route: string, status: number, seconds: number): void {
    const key = `route="${route}",status="${status}"`;
    this.#requests.set(key, (this.#requests.get(key) ?? 0) + 1);
    const known = this.#durations.get(route) ?? { buckets: BOUNDS.map(() => 0), sum: 0, count: 0 };
    for (const [i, bound] of BOUNDS.entries()) if (seconds <= bound) known.buckets[i] = (known.buckets[i] ?? 0) + 1;
    known.sum += seconds;
    known.count += 1;
    this.#durations.set(route, known);
  }

  stored(turns: number): void {
    this.#turns += turns;
  }

  streams(change: 1 | -1): void {
    this.#streams += change;
  }

  toString(): string {
    const lines = [
      "# TYPE backtrail_hub_requests_total counter",
      ...[...this.#requests].map(([labels, count]) => `backtrail_hub_requests_total{${labels}} ${count}`),
      "# TYPE backtrail_hub_request_seconds histogram",
      ...[...this.#durations].flatMap(([route, { buckets, sum, count }]) => [
        ...BOUNDS.map(
          (bound, i) => `backtrail_hub_request_seconds_bucket{route="${route}",le="${bound}"} ${buckets[i]}`,
        ),
        `backtrail_hub_request_seconds_bucket{route="${route}",le="+Inf"} ${count}`,
        `backtrail_hub_request_seconds_sum{route="${route}"} ${sum}`,
        `backtrail_hub_request_seconds_count{route="${route}"} ${count}`,
      ]),
      "# TYPE backtrail_hub_turns_stored_total counter",
      `backtrail_hub_turns_stored_total ${this.#turns}`,
      "# TYPE backtrail_hub_live_streams gauge",
      `backtrail_hub_live_streams ${this.#streams}`,
    ];
    return `${lines.join("\n")}\n`;
  }
}
