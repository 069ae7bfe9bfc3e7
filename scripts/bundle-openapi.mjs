/** Builds the OpenAPI documents of servers with default settings, which otherwise take a tenth of a second at the first request. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { root } from './root.mjs'

const compiled = (path) => import(new URL(path, `file://${root}/`).href)

/** Ends a piece that custom resources may extend; JSON never contains this byte. */
const end = Uint8Array.of(0)

/** Writes the documents of all profiles at the default level into a folder. */
export async function bundleOpenApi(folder, profiles) {
  const { createCatalogue } = await compiled('shared/core/dist/catalogue/index.js')
  const { knownReleases } = await compiled('shared/core/dist/feature-gates.js')
  const { versionInfo } = await compiled('services/orch/dist/version.js')
  const { Pace } = await compiled('services/gateway/dist/request/pace.js')
  const { BuiltInOpenApi, name2 } = await compiled('services/gateway/dist/routes/built-in-openapi.js')
  const { presetFileName } = await compiled('services/gateway/dist/routes/preset-openapi.js')
  mkdirSync(folder, { recursive: true })
  const minor = knownReleases.byDefault
  for (const profile of profiles) {
    const sources = {
      authentication: { issuer: {} },
      builtInCatalogue: createCatalogue(profile, { minor }),
      clock: { now: () => 0 },
      pace: new Pace(),
      version: versionInfo(minor),
      pathPrefix: '',
    }
    const write = (name, pieces) => {
      const bytes = gzipSync(Buffer.concat(pieces), { level: 9 })
      writeFileSync(join(folder, presetFileName(name, sources, { hasIssuer: true })), bytes)
    }
    const builtIn = new BuiltInOpenApi(sources)
    const { paths, definitions, back } = await builtIn.form2.json()
    write(name2, [...paths, end, ...definitions, end, ...back])
    for (const { name } of await builtIn.listed()) write(name, (await builtIn.files3.get(name)).json.pieces)
  }
}
