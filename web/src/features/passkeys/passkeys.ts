// Requests about passkeys.
import { queryOptions } from "@tanstack/react-query";

import { client, Problem, unwrap, type Schemas } from "../../api/client";
import { queryKeys } from "../../api/queryKeys";
import { waitForAuthReads } from "../../auth/sessionEnd";
import { createPasskey, signWithPasskey } from "./webauthn";

export type Passkey = Schemas["AuthPasskey"];

/** The schema of the service does not describe the JSON of WebAuthn. */
type Untyped = Record<string, never>;

/** The passkeys of the signed-in user, oldest first. */
export const passkeysQuery = queryOptions({
  queryKey: queryKeys.me.passkeys(),
  queryFn: () => unwrap(client.GET("/auth/passkey/list-user-passkeys")) as Promise<Passkey[]>,
});

/** An error of the browser: the user cancelled, or the authenticator has a passkey of the account already. */
function browserProblem(error: unknown): unknown {
  if (!(error instanceof DOMException)) return error;
  return error.name === "InvalidStateError"
    ? new Problem(0, "PASSKEY_EXISTS", "The device has a passkey of this account already")
    : new Problem(0, "PASSKEY_CANCELLED", "No passkey was used");
}

/** Adds a passkey. The service asks for the password first if the sign-in was some time ago. */
export async function addPasskey(name: string, password: string | null): Promise<void> {
  if (password !== null) await client.POST("/auth/verify-password", { body: { password } });
  const options = await unwrap(client.GET("/auth/passkey/generate-register-options"));
  const response = await createPasskey(options).catch((error: unknown) => {
    throw browserProblem(error);
  });
  await client.POST("/auth/passkey/verify-registration", { body: { response: response as Untyped, name } });
}

export const renamePasskey = (id: string, name: string) =>
  client.POST("/auth/passkey/update-passkey", { body: { id, name } });

export async function removePasskey(id: string, password: string | null): Promise<void> {
  if (password !== null) await client.POST("/auth/verify-password", { body: { password } });
  await client.POST("/auth/passkey/delete-passkey", { body: { id } });
}

/** Signs in with a passkey alone; with a signal, when the user chooses a suggestion of the name field. */
export async function signInWithPasskey(suggestUntil?: AbortSignal): Promise<void> {
  const query = { signIn: "true" };
  const options = await unwrap(client.GET("/auth/passkey/generate-authenticate-options", { params: { query } }));
  await verify(options, suggestUntil);
}

/** The second step of a sign-in. */
export async function confirmWithPasskey(): Promise<void> {
  await verify(await unwrap(client.GET("/auth/passkey/generate-authenticate-options")));
}

async function verify(options: Schemas["AuthPasskeyAuthenticateOptions"], suggestUntil?: AbortSignal): Promise<void> {
  const response = await signWithPasskey(options, suggestUntil).catch((error: unknown) => {
    throw browserProblem(error);
  });
  await waitForAuthReads();
  await client.POST("/auth/passkey/verify-authentication", { body: { response: response as Untyped } });
}
