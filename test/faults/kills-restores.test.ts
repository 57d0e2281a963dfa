import { killAtPoints } from "./kills-at-points.ts";
import { restores } from "./operations/restores.ts";

killAtPoints(restores);
