import { driver } from "./codex.ts";
import { testUndoNotice } from "./undo-notice.ts";

await testUndoNotice(driver);
