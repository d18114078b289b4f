// The products for which sign-on providers have instructions.
import type { Schemas } from "../../api/client";

export type SignOnPreset = Schemas["SignOnPreset"];

export const PRESETS: SignOnPreset[] = ["ENTRA", "GOOGLE", "ISERV", "KEYCLOAK", "VIDIS", "OTHER"];

export const isPreset = (text: string): text is SignOnPreset => PRESETS.some((preset) => preset === text);
