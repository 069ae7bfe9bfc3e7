import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Catalogue } from '@orch/core/catalogue'
import { knownReleases } from '@orch/core/feature-gates'
import { openApi2DocumentInSteps, openApi3DocumentInSteps, openApi3Names } from '@orch/core/openapi'
import { runAtOnce } from '@orch/core/steps'
import { aFolder } from '@orch/testkit/folder'
import { expect, test } from 'vitest'
import { name2 } from '../../services/gateway/src/routes/built-in-openapi.ts'
import { presetFileName } from '../../services/gateway/src/routes/preset-openapi.ts'
import { printingTerminal } from '../../services/orch/src/process/terminal-testing.ts'
import { readUpOptions } from '../../services/orch/src/settings/up.ts'
import { catalogueOf } from '../../services/orch/src/surroundings.ts'
import { versionInfo } from '../../services/orch/src/version.ts'
import { startProcess } from './server-process.ts'

const presets = join(import.meta.dirname, '../../services/orch/dist/bundle/openapi')
const version = versionInfo(knownReleases.byDefault)
const options = { hasIssuer: true }

/** The OpenAPI catalogue of a server with a profile and no further flags. */
async function usualCatalogue(profile: 'orch' | 'kubernetes'): Promise<Catalogue> {
  const { terminal } = printingTerminal(aFolder(), [])
  return catalogueOf((await readUpOptions(terminal, [`--profile=${profile}`])).api)
}

/** The names of the files from which such a server reads its documents. */
async function filesOf(profile: 'orch' | 'kubernetes'): Promise<string[]> {
  const builtInCatalogue = await usualCatalogue(profile)
  return [name2, ...openApi3Names(builtInCatalogue, options)].map((name) => presetFileName(name, { builtInCatalogue, version }, options))
}

test('the bundle has the documents of both profiles, equal to those that a server would generate, and serves them without the fetch client', async () => {
  expect(readdirSync(presets).sort()).toEqual([...(await filesOf('orch')), ...(await filesOf('kubernetes'))].sort())
  const folder = aFolder()
  const env = writesLoadedModules(folder)
  const { client, stop } = await startProcess(['--memory', '--profile=kubernetes'], { env })
  const catalogue = await usualCatalogue('kubernetes')
  expect(await client.request({ method: 'GET', path: '/openapi/v2' })).toEqual(
    runAtOnce(openApi2DocumentInSteps(catalogue, version.gitVersion, options)),
  )
  const hashes = openApi3Names(catalogue, options).map((name) => {
    const document = runAtOnce(openApi3DocumentInSteps(catalogue, { ...options, name, serverVersion: version.gitVersion }))
    const hash = createHash('sha512')
      .update(`${JSON.stringify(document)}\n`)
      .digest('hex')
      .toUpperCase()
    return [name, { serverRelativeURL: `/openapi/v3/${name}?hash=${hash}` }]
  })
  expect(await client.request({ method: 'GET', path: '/openapi/v3' })).toEqual({ paths: Object.fromEntries(hashes) })
  // Node's fetch client would take 4 MB of heap and 20 ms.
  await stop()
  const loaded: string[] = JSON.parse(readFileSync(join(folder, 'modules.json'), 'utf8'))
  expect(loaded).toContain('NativeModule http')
  expect(loaded.filter((name) => name.includes('undici'))).toEqual([])
})

/** The environment of a process that writes the names of the loaded parts of Node.js at its end. */
function writesLoadedModules(folder: string): Record<string, string> {
  const preload = join(folder, 'preload.cjs')
  const write = `require('node:fs').writeFileSync(${JSON.stringify(join(folder, 'modules.json'))}, JSON.stringify(process.moduleLoadList))`
  writeFileSync(preload, `process.on('exit', () => ${write})`)
  return { NODE_OPTIONS: `--require=${preload}` }
}
