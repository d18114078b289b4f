// Generates the two Prisma clients, one per database, from the same models. Nothing is downloaded: the migration engine
// is not needed, and the program that searches for it is configured as if it existed.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'

const models = readFileSync(new URL('models.prisma', import.meta.url), 'utf8')
for (const provider of ['sqlite', 'postgresql']) {
  const folder = new URL(`generated/${provider}/`, import.meta.url)
  mkdirSync(folder, { recursive: true })
  const features = provider === 'postgresql' ? 'previewFeatures = ["relationJoins"]' : ''
  const head = `generator client {\n  provider = "prisma-client-js"\n  output = "client"\n  ${features}\n}\n
datasource db {\n  provider = "${provider}"\n}\n\n`
  const schema = new URL('schema.prisma', folder)
  writeFileSync(schema, head + models)
  execFileSync('npx', ['prisma', 'generate', '--schema', schema.pathname], {
    cwd: new URL('.', import.meta.url),
    env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true', CHECKPOINT_DISABLE: '1' },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
}
