/**
 * `npm run journey [-- verbs]`: serves one request of each verb in process, warm, and prints the files of its functions, in the order
 * of entry, and the number of returns of the request to a file that it has left.
 *
 * General helpers are code that a reader understands by name and need not open: JSON, `memo`, names, metadata, contracts, reading by
 * the description of a type (`schema`), the stored form (`stored`), maps and logs that forks share (`sorted-tree`,
 * `log-pages` and its parts), the platform, the request and its connection, and observers of a request that decide nothing (pace,
 * limits, trace, explanation, log, metrics). Their files are marked with · and counted apart.
 * The rest is counted by package as well. Garbage, timers and other requests are not recorded.
 *
 * The event of a write is delivered to watchers before the writer is answered. That is a journey of its own (Watch event in
 * ARCHITECTURE.md), for readers of watches and not of writes: its files are marked with ~, and counted apart.
 */
import { start } from 'orch'

const generalHelpers = [
  /^shared\/cel\/src\/(at|memo)\.ts$/,
  /^shared\/core\/src\/(json|meta|contracts|names|steps|selectors|description|schema|stored|validation\/object-meta)\b/,
  /^services\/storage\/src\/(memory\/sorted-tree|store\/log-(pages|page|entry))\.ts$/,
  /^shared\/platform\/src\//,
  /^services\/gateway\/src\/(limits|exchange|steps\/explain|request\/(pace|trace|explanation|request-log|request\.ts))\b/,
  /^services\/gateway\/src\/(.*\/)?([a-z]+-)?metrics\.ts$/,
]

const eventFiles = [/^services\/watch\/src\//, /^services\/orch\/src\/watch\//, /^services\/gateway\/src\/watch-hub\//]

const verbs = {
  create: (client, number) => client.create(configMap(`created-${number}`)),
  get: (client) => client.get('seen', { namespace: 'default' }),
  list: (client) => client.list({ namespace: 'default' }),
  update: async (client, number, given) => client.update({ ...given, data: { number: String(number) } }),
  delete: (client, number) => client.delete(`created-${number}`, { namespace: 'default' }),
}

const asked = process.argv.length > 2 ? process.argv.slice(2) : ['create']
const unknown = asked.find((verb) => !Object.hasOwn(verbs, verb))
if (unknown !== undefined) {
  process.stderr.write(`Unknown verb ${unknown}: one of ${Object.keys(verbs).join(', ')} was expected.\n`)
  process.exit(1)
}

await using server = await start({ controllers: ['-*'] })
const client = server.client.resource({ group: '', version: 'v1', plural: 'configmaps', namespaced: true })
for (const verb of asked) for (const line of describeJourney(verb, await journeyOf(verb))) process.stdout.write(`${line}\n`)

/** The files that a warm request visits, on a server in its initial state. */
async function journeyOf(verb) {
  await server.reset()
  const send = verbs[verb]
  await client.create(configMap('seen'))
  if (verb === 'delete') for (let number = 0; number <= 20; number++) await client.create(configMap(`created-${number}`))
  // Creates lazily created parts now.
  for (let number = 0; number < 20; number++) await send(client, number, await client.get('seen', { namespace: 'default' }))
  const given = await client.get('seen', { namespace: 'default' })
  return globalThis.recordJourney(() => send(client, 20, given))
}

function configMap(name) {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data: { a: 'b' } }
}

function describeJourney(verb, visits) {
  const isGeneral = (file) => generalHelpers.some((pattern) => pattern.test(file))
  const isOfEvent = (file) => eventFiles.some((pattern) => pattern.test(file))
  const markOf = (file) => (isGeneral(file) ? '·' : isOfEvent(file) ? '~' : ' ')
  const named = inARow(visits.filter((file) => !isGeneral(file) && !isOfEvent(file)))
  return [
    ...visits.map((file, index) => `${markOf(file)} ${visits.indexOf(file) < index ? '↩' : ' '} ${file}`),
    '',
    `${verb}: ${count(visits)}`,
    `its event: ${count(inARow(visits.filter(isOfEvent)))}`,
    `without general helpers and its event: ${count(named)}`,
    ...[...new Set(named.map(packageOf))].sort().map((name) => `  ${name}: ${count(within(named, name))}`),
  ]
}

function packageOf(file) {
  return file.split('/').slice(0, 2).join('/')
}

/** The visits to one package, without its calls to other packages. */
function within(visits, name) {
  return inARow(visits.filter((file) => packageOf(file) === name))
}

/** Removes repetitions of a file in a row. */
function inARow(visits) {
  return visits.filter((file, index) => file !== visits[index - 1])
}

function count(visits) {
  const files = new Set(visits).size
  return `${files} files, ${visits.length - files} returns`
}
