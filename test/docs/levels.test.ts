import { createCatalogue } from '@orch/core/catalogue'
import { actingGates, type FeatureGate, featureGates, knownReleases, printRelease } from '@orch/core/feature-gates'
import { expect, test } from 'vitest'

/** The first level with published types. */
const first = 25
const levels = Array.from({ length: knownReleases.newest - first + 1 }, (_, index) => first + index)

/** All resources that a server of a level serves by default, such as `apps/v1 deployments`, and its feature gates. */
function levelOf(minor: number) {
  const { resources } = createCatalogue('kubernetes', { minor })
  const served = resources.map(({ apiVersion, plural }) => ({ apiVersion, name: `${apiVersion} ${plural}` }))
  return {
    names: new Set(served.map(({ name }) => name)),
    versions: new Set(served.map(({ apiVersion }) => apiVersion)),
    gates: gatesOf(minor),
  }
}

const acting: ReadonlySet<string> = new Set(actingGates)

/** Feature gates that have an effect in this server, by name. */
function gatesOf(minor: number): ReadonlyMap<string, FeatureGate> {
  return new Map(featureGates(minor).flatMap((gate) => (acting.has(gate.name) ? [[gate.name, gate]] : [])))
}

function isOn(gates: ReadonlyMap<string, FeatureGate>, name: string): boolean {
  return gates.get(name)?.isOnByDefault === true
}

function added(before: Iterable<string>, after: Iterable<string>): string {
  const known = new Set(before)
  const names = [...after].filter((name) => !known.has(name)).sort()
  return names.length === 0 ? '–' : names.map((name) => `\`${name}\``).join(', ')
}

function printLevelsPage(): string {
  const rows = levels.map((level) => {
    const { names, versions, gates } = levelOf(level)
    const on = [...gates.keys()].filter((name) => isOn(gates, name))
    return `| ${printRelease(level)} | ${versions.size} | ${names.size} | ${gates.size} | ${on.length} |`
  })
  const changes = levels.slice(1).map((level) => {
    const [before, after] = [levelOf(level - 1), levelOf(level)]
    const switched = [...after.gates.keys()].filter((name) => isOn(after.gates, name) && !isOn(before.gates, name))
    return [
      `| ${printRelease(level)} | ${added(before.names, after.names)} | ${added(after.names, before.names)} | ${added([], switched)} `,
      `| ${added(after.gates.keys(), before.gates.keys())} |`,
    ].join('')
  })
  return `# What each level serves

For users who choose a level. [API levels](versions.md) says how to choose, what follows the level, and what is not there yet. This page is written by a test, from the descriptions that the server is made of.

Without \`--runtime-config\` and \`--feature-gates\`, in the names of Kubernetes; gates are those that have an effect in this server.

| level | group versions | resources | gates | on by default |
|---|---:|---:|---:|---:|
${rows.join('\n')}

## From one level to the next

| level | served from it on | no longer served | gates on from it on | gates that it does not know any more |
|---|---|---|---|---|
${changes.join('\n')}
`
}

test('the page of the resources of each level is current', async () => {
  await expect(printLevelsPage()).toMatchFileSnapshot('../../docs/reference/levels.md')
})
