/** Loads a screen's code when it is first shown. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Route } from "../data/router.ts";
import { Skeleton } from "../parts/states.tsx";

type ScreenType = ComponentType<{ place: Route }>;

export function lazy(load: () => Promise<ScreenType>): ScreenType {
  let loaded: ScreenType | undefined;
  return function Lazy(props: { place: Route }) {
    const [, setReady] = useState(loaded !== undefined);
    const [failed, setFailed] = useState(false);
    useEffect(() => {
      if (loaded) return;
      load().then(
        (component) => {
          loaded = component;
          setReady(true);
        },
        () => setFailed(true),
      );
    }, []);
    if (failed) return <p class="problem">This part of the page could not be loaded. Is the server still running?</p>;
    const Loaded = loaded;
    return Loaded ? <Loaded {...props} /> : <Skeleton lines={8} label="Loading" />;
  };
}
