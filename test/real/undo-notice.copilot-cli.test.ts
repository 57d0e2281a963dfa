import { driver } from "./copilot-cli.ts";
import { testUndoNotice } from "./undo-notice.ts";

await testUndoNotice(driver);
