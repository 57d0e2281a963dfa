import { driver } from "./qwen.ts";
import { testUndoNotice } from "./undo-notice.ts";

await testUndoNotice(driver);
