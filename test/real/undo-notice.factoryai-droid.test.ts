import { driver } from "./factoryai-droid.ts";
import { testUndoNotice } from "./undo-notice.ts";

await testUndoNotice(driver);
