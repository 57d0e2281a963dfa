import { driver } from "./opencode.ts";
import { testUndoNotice } from "./undo-notice.ts";

await testUndoNotice(driver);
