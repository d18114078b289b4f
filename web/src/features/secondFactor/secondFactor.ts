// Requests about the second factor of the signed-in user.
import { client, unwrap } from "../../api/client";

/** The secret for the authenticator app, and recovery codes. Both are shown once. */
export interface SecondFactorSecret {
  uri: string;
  recoveryCodes: string[];
}

/** Starts setting up an authenticator app; the first code confirms it. */
export async function enableSecondFactor(password: string): Promise<SecondFactorSecret> {
  const made = await unwrap(client.POST("/auth/two-factor/enable", { body: { password } }));
  return { uri: made?.totpURI ?? "", recoveryCodes: made?.backupCodes ?? [] };
}

/** Confirms the app with a code; from then on every sign-in requires one. */
export const confirmSecondFactor = (code: string) =>
  client.POST("/auth/two-factor/verify-totp", { body: { code: code.trim() } });

export const disableSecondFactor = (password: string) =>
  client.POST("/auth/two-factor/disable", { body: { password } });

/** Replaces the recovery codes. */
export async function renewRecoveryCodes(password: string): Promise<string[]> {
  const made = await unwrap(client.POST("/auth/two-factor/generate-backup-codes", { body: { password } }));
  return made?.backupCodes ?? [];
}

/** The secret in an `otpauth:` URI, in groups for typing. */
export function typedSecret(uri: string): string {
  const secret = new URL(uri).searchParams.get("secret") ?? "";
  return secret.match(/.{1,4}/g)?.join(" ") ?? "";
}
