/** The objects of a repository, open for one task: `using objects = new ObjectStore(workspace)`. */
import type { Workspace } from "../workspace.ts";
import { ObjectReader } from "./reader.ts";
import { TreeStore } from "./trees.ts";
import { ObjectWriter } from "./writer.ts";

export class ObjectStore implements Disposable {
  readonly reader: ObjectReader;
  readonly writer: ObjectWriter;
  readonly trees: TreeStore;

  /** `place`: where new objects go, if not into the repository itself. */
  constructor(workspace: Workspace, place?: ConstructorParameters<typeof ObjectWriter>[1]) {
    this.reader = new ObjectReader(workspace);
    this.writer = new ObjectWriter(workspace, place);
    this.trees = new TreeStore(this.reader, this.writer);
  }

  [Symbol.dispose](): void {
    this.reader.close();
  }
}
