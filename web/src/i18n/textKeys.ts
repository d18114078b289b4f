// Types of the translation keys: `t` accepts the keys of the English texts only. For a key that is built from a value of the
// service there is `translateIfKnown`.
import type { ParseKeys } from "i18next";

import type actingTexts from "./en/acting.json";
import type activityTexts from "./en/activity.json";
import type adminTexts from "./en/admin.json";
import type boardTexts from "./en/board.json";
import type classesTexts from "./en/classes.json";
import type commonTexts from "./en/common.json";
import type copiesTexts from "./en/copies.json";
import type coursesTexts from "./en/courses.json";
import type deletionsTexts from "./en/deletions.json";
import type divideTexts from "./en/divide.json";
import type domainsTexts from "./en/domains.json";
import type downloadsTexts from "./en/downloads.json";
import type editorTexts from "./en/editor.json";
import type feedbackTexts from "./en/feedback.json";
import type fieldsTexts from "./en/fields.json";
import type finishTexts from "./en/finish.json";
import type gradeBookTexts from "./en/gradeBook.json";
import type groupsTexts from "./en/groups.json";
import type healthTexts from "./en/health.json";
import type homeroomsTexts from "./en/homerooms.json";
import type importTexts from "./en/import.json";
import type keysTexts from "./en/keys.json";
import type manualTexts from "./en/manual.json";
import type markdownTexts from "./en/markdown.json";
import type meTexts from "./en/me.json";
import type meanwhileTexts from "./en/meanwhile.json";
import type messagesTexts from "./en/messages.json";
import type organisationTexts from "./en/organisation.json";
import type otherSchoolTexts from "./en/otherSchool.json";
import type overviewTexts from "./en/overview.json";
import type peopleTexts from "./en/people.json";
import type privacyTexts from "./en/privacy.json";
import type projectorTexts from "./en/projector.json";
import type refusedTexts from "./en/refused.json";
import type roomTexts from "./en/room.json";
import type rostersTexts from "./en/rosters.json";
import type rubricsTexts from "./en/rubrics.json";
import type passkeyTexts from "./en/passkey.json";
import type secondFactorTexts from "./en/secondFactor.json";
import type sessionsTexts from "./en/sessions.json";
import type signOnTexts from "./en/signOn.json";
import type signOnHelpTexts from "./en/signOnHelp.json";
import type snippetsTexts from "./en/snippets.json";
import type subjectsTexts from "./en/subjects.json";
import type submissionsTexts from "./en/submissions.json";
import type tenantsTexts from "./en/tenants.json";
import type todayTexts from "./en/today.json";
import type tokensTexts from "./en/tokens.json";
import type topicTexts from "./en/topic.json";
import type workTexts from "./en/work.json";
import type writingTexts from "./en/writing.json";
import type zoneTexts from "./en/zone.json";

type Texts = typeof actingTexts &
  typeof activityTexts &
  typeof adminTexts &
  typeof boardTexts &
  typeof classesTexts &
  typeof commonTexts &
  typeof copiesTexts &
  typeof coursesTexts &
  typeof deletionsTexts &
  typeof divideTexts &
  typeof domainsTexts &
  typeof downloadsTexts &
  typeof editorTexts &
  typeof feedbackTexts &
  typeof fieldsTexts &
  typeof finishTexts &
  typeof gradeBookTexts &
  typeof groupsTexts &
  typeof healthTexts &
  typeof homeroomsTexts &
  typeof importTexts &
  typeof keysTexts &
  typeof manualTexts &
  typeof markdownTexts &
  typeof meTexts &
  typeof meanwhileTexts &
  typeof messagesTexts &
  typeof organisationTexts &
  typeof otherSchoolTexts &
  typeof overviewTexts &
  typeof peopleTexts &
  typeof privacyTexts &
  typeof projectorTexts &
  typeof refusedTexts &
  typeof roomTexts &
  typeof rostersTexts &
  typeof rubricsTexts &
  typeof passkeyTexts &
  typeof secondFactorTexts &
  typeof sessionsTexts &
  typeof signOnTexts &
  typeof signOnHelpTexts &
  typeof snippetsTexts &
  typeof subjectsTexts &
  typeof submissionsTexts &
  typeof tenantsTexts &
  typeof todayTexts &
  typeof tokensTexts &
  typeof topicTexts &
  typeof workTexts &
  typeof writingTexts &
  typeof zoneTexts;

/** A key of the texts. */
export type TextKey = ParseKeys;

declare module "i18next" {
  interface CustomTypeOptions {
    defaultNS: "translation";
    resources: { translation: Texts };
  }
}
