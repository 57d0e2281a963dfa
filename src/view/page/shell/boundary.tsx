/** Catches what goes wrong while a screen is drawn, so that the header and the way back stay. */
import { Component, type ComponentChildren } from "preact";
import { to } from "../data/router.ts";
import { Empty } from "../parts/states.tsx";

export class Boundary extends Component<{ children: ComponentChildren }, { failed: string | null }> {
  override state = { failed: null };

  static override getDerivedStateFromError(error: unknown) {
    return { failed: error instanceof Error ? error.message : String(error) };
  }

  override render() {
    const { failed } = this.state;
    if (failed === null) return this.props.children;
    return (
      <Empty title="This screen could not be drawn">
        <p class="mono">{failed}</p>
        <p>
          <a href={to("")}>Go to the timeline</a>
        </p>
      </Empty>
    );
  }
}
