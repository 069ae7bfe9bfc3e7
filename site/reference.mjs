/** Makes the reference pages from the answers of a server and from the tests. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { start } from 'orch'
import { idsOf, parseStatements } from '../scripts/requirements.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
/** The beginning of a text in a test that names statements: a title, or the part of a title in a table. */
const naming = /(['"`])((?:[A-Z]+-)+\d+(?:(?:, |…)(?:[A-Z]+-)+\d+)*)(?=\1|:)/g

/** The text of each generated page, by its name. */
export async function generatePages() {
  await using server = await start({ profile: 'kubernetes' })
  return { kinds: await describeKinds(server), metrics: await describeMetrics(server), coverage: describeTests() }
}

async function describeKinds({ client }) {
  const headers = { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' }
  const documents = await Promise.all(['/api', '/apis'].map((path) => client.request({ method: 'GET', path, headers })))
  const groups = documents.flatMap(({ items }) => items)
  const rows = groups.flatMap(({ metadata, versions }) =>
    versions.flatMap(({ version, resources }) => resources.map((resource) => [metadata.name ?? '', version, resource])),
  )
  const versionsOf = ({ versions }) => versions.flatMap(({ version, resources }) => [`### ${version}`, '', ...tableOf(resources), ''])
  return [
    '# Kinds',
    '',
    `Resources that a server of profile \`kubernetes\` lists in discovery, with all features as they are by default: ${rows.length} resources in ${groups.length} groups. Under profile \`orch\` the groups have this product's name.`,
    '',
    ...groups.flatMap((group) => [`## ${group.metadata.name ?? 'core'}`, '', ...versionsOf(group)]),
  ].join('\n')
}

function tableOf(resources) {
  return [
    '| resource | kind | scope | short names | verbs | subresources |',
    '|---|---|---|---|---|---|',
    ...resources.map(({ resource, responseKind, scope, shortNames = [], verbs, subresources = [] }) => {
      const below = subresources.map(({ subresource }) => subresource).join(', ')
      return `| ${resource} | ${responseKind.kind} | ${scope} | ${shortNames.join(', ')} | ${verbs.join(', ')} | ${below} |`
    }),
  ]
}

async function describeMetrics({ client }) {
  const { body } = await client.transport.send({ method: 'GET', path: '/metrics', headers: {} })
  let text = ''
  for await (const part of body) text += Buffer.from(part).toString()
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]))
  const rows = [...text.matchAll(/^# HELP (\S+) (.*)$/gm)]
    .sort(([, one], [, other]) => (one < other ? -1 : 1))
    .map(([, name, help]) => `| \`${name}\` | ${types.get(name) ?? ''} | ${help.replaceAll('|', '\\|').replaceAll('\\n', ' ')} |`)
  return [
    '# Metrics',
    '',
    `The ${rows.length} metrics that a server in one process has after its start. [Traces, logs and metrics](../docs/how-to/telemetry.md#metrics) says which process of several has which, and which further ones services apart have.`,
    '',
    '| metric | type | says |',
    '|---|---|---|',
    ...rows,
  ].join('\n')
}

/** Statements with the tests whose titles name them, and cases that are test data. */
function describeTests() {
  const text = readFileSync(join(root, 'docs/reference/requirements.md'), 'utf8')
  const statements = parseStatements(text)
  const titles = titlesOfTests()
  const named = titles.flatMap(idsOf)
  const isNamed = new Set(named)
  const areas = [...text.matchAll(/^### ([A-Z-]+): (.*)$/gm)]
  const rows = areas.map(([, area, name]) => {
    const all = statements.filter((statement) => statement.area === area)
    const shown = all.filter(({ id, sameAs }) => [id, ...sameAs].some((one) => isNamed.has(one)))
    const tests = titles.filter((one) => idsOf(one).some((id) => id.replace(/-\d+$/, '') === area))
    return `| ${area} | ${name.replaceAll('|', '\\|')} | ${all.length} | ${shown.length} | ${tests.length} |`
  })
  const files = listFiles('.jsonl', '.json').map((file) => [file, countCases(file, readFileSync(join(root, file), 'utf8'))])
  const cases = files.filter(([, count]) => count > 0)
  const total = cases.reduce((sum, [, count]) => sum + count, 0)
  return [
    '# What tests show',
    '',
    `The API level is 1.25; what is newer stands under its feature gate. [Requirements](../docs/reference/requirements.md) has ${statements.length} statements on what kube-apiserver and the API conventions ask for; titles of tests name those that they show, which are counted here. The rest are policies, duties of clients and points left open, and what [the limits](../README.md#not-there-yet) list. \`npm run requirements\` counts the tests that have passed.`,
    '',
    '| area | about | statements | named by tests | tests |',
    '|---|---|---|---|---|',
    ...rows,
    '',
    '## Cases',
    '',
    `${total} cases are data that tests go through: answers that kube-apiserver 1.25 has given, and cases of the test suites of Kubernetes and CEL. What differs on purpose from a recorded answer is listed with its reason in [known-differences.ts](../test/recorded/known-differences.ts).`,
    '',
    '| file | cases |',
    '|---|---|',
    ...cases.map(([file, count]) => `| \`${file}\` | ${count} |`),
  ].join('\n')
}

/** Of lines all but a first one that says where they are from; of a table of JSON, or several by name, the members of `cases`. */
export function countCases(file, text) {
  const isHeader = (line) => ['notice', 'from'].some((member) => Object.hasOwn(JSON.parse(line), member))
  if (file.endsWith('.jsonl')) {
    const lines = text.trim().split('\n')
    return lines.length - (isHeader(lines[0]) ? 1 : 0)
  }
  const table = JSON.parse(text)
  return [table, ...Object.values(table)].reduce((sum, one) => sum + (Array.isArray(one?.cases) ? one.cases.length : 0), 0)
}

function titlesOfTests() {
  return listFiles('.test.ts', '.chaos.ts').flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8')
    return [...text.matchAll(naming)].map(([, , ids]) => `${ids}:`)
  })
}

/** Files of the packages and tests whose names end so. */
function listFiles(...ends) {
  const isOurs = (file) => ends.some((end) => file.endsWith(end)) && !/(?:^|\/)(?:node_modules|dist)\//.test(file)
  const folders = ['shared', 'services'].flatMap((group) => readdirSync(join(root, group)).map((name) => join(group, name, 'src')))
  const files = [...folders.filter((folder) => existsSync(join(root, folder))), 'test'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((file) => posix.join(folder, file)),
  )
  return files.filter(isOurs).sort()
}
