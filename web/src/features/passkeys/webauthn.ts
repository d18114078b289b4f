// Passkeys of the browser. The service sends and receives them as JSON, with bytes as base64url.
import type { Schemas } from "../../api/client";

type Descriptor = Schemas["AuthPasskeyDescriptor"];

/** Whether the browser supports passkeys. Without TLS it does not, except on localhost. */
export const supportsPasskeys = (): boolean => typeof PublicKeyCredential === "function";

/** Whether the browser can offer passkeys in the suggestions of the name field. */
export const supportsSuggestions = async (): Promise<boolean> =>
  supportsPasskeys() && ((await PublicKeyCredential.isConditionalMediationAvailable?.()) ?? false);

export function toBytes(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (character) => character.codePointAt(0) ?? 0);
}

export function toText(buffer: ArrayBuffer): string {
  const binary = Array.from(new Uint8Array(buffer), (byte) => String.fromCodePoint(byte)).join("");
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

const toDescriptor = ({ id, transports }: Descriptor): PublicKeyCredentialDescriptor => ({
  type: "public-key",
  id: toBytes(id),
  ...(transports ? { transports: transports as AuthenticatorTransport[] } : {}),
});

const named = (credential: PublicKeyCredential) => ({
  id: credential.id,
  rawId: toText(credential.rawId),
  type: credential.type,
});

/** Lets an authenticator create a passkey; returns what the service verifies. */
export async function createPasskey(options: Schemas["AuthPasskeyRegisterOptions"]): Promise<Record<string, unknown>> {
  const credential = (await navigator.credentials.create({
    publicKey: {
      ...(options as unknown as PublicKeyCredentialCreationOptions),
      challenge: toBytes(options.challenge),
      user: { ...options.user, id: toBytes(options.user.id) },
      excludeCredentials: options.excludeCredentials.map(toDescriptor),
    },
  })) as PublicKeyCredential;
  const response = credential.response as AuthenticatorAttestationResponse;
  return {
    ...named(credential),
    response: {
      clientDataJSON: toText(response.clientDataJSON),
      attestationObject: toText(response.attestationObject),
      transports: response.getTransports?.() ?? [],
    },
  };
}

/** Lets an authenticator sign; with a signal it only suggests passkeys in the name field, until it is aborted. */
export async function signWithPasskey(
  options: Schemas["AuthPasskeyAuthenticateOptions"],
  suggestUntil?: AbortSignal,
): Promise<Record<string, unknown>> {
  const credential = (await navigator.credentials.get({
    publicKey: {
      ...(options as unknown as PublicKeyCredentialRequestOptions),
      challenge: toBytes(options.challenge),
      allowCredentials: options.allowCredentials?.map(toDescriptor) ?? [],
    },
    ...(suggestUntil ? { mediation: "conditional", signal: suggestUntil } : {}),
  })) as PublicKeyCredential;
  const response = credential.response as AuthenticatorAssertionResponse;
  return {
    ...named(credential),
    response: {
      clientDataJSON: toText(response.clientDataJSON),
      authenticatorData: toText(response.authenticatorData),
      signature: toText(response.signature),
      ...(response.userHandle ? { userHandle: toText(response.userHandle) } : {}),
    },
  };
}
