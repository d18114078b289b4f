// The official client with its passkey plugin, for a page: web/e2e/passkeys.test.mjs bundles this module and runs it in Chromium.
import { createAuthClient } from 'better-auth/client';
import { passkeyClient } from '@better-auth/passkey/client';

globalThis.officialClient = createAuthClient({ plugins: [passkeyClient()] });
