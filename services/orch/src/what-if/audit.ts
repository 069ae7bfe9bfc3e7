import { resolve } from 'node:path'
import { type Client, isRefusal, type Manifest, ManifestError, withoutServerState } from '@orch/client'
import { type ApiObject, StatusError } from '@orch/core/meta'
import { namesOf } from '@orch/core/names'
import { pauses, SettingsError, settingsOf, settingTypes } from '@orch/platform'
import { clusterSettings, openCluster } from '../ctl.ts'
import { storeOver } from '../load/command.ts'
import { type Dump, readDump } from '../load/dump.ts'
import { nameOf } from '../load/dumped-object.ts'
import { explained, type LoadReport, loadDump } from '../load/load.ts'
import { isDefinition, untilServed } from '../load/store-objects.ts'
import { StartError, type Terminal } from '../process/terminal.ts'
import { generalSettings, readCommandSettings, splitWords } from '../settings/general.ts'
import { profileOf, readFiles } from '../validate/files.ts'
import { bindingOf, KnownPolicies, policyKinds } from '../validate/policies.ts'
import { findAccessChanges, roleKinds } from './access-changes.ts'
import { type AuditReport, objectsOfServer, printReport, refusesAny } from './findings.ts'
import { ObjectTrials } from './object-trials.ts'

const { list, oneOf } = settingTypes
const setting = settingsOf('What-if')

/** The settings of `orch audit`. */
export const auditSettings = {
  config: generalSettings.config,
  logFormat: generalSettings.logFormat,
  ...clusterSettings,
  stored: setting(
    { flag: '--stored', type: list, defaultDoc: 'all objects of the server' },
    'Dumps with the stored objects, of any form that orch load takes.',
  ),
  output: setting(
    { flag: '--output', type: oneOf(['table', 'json']), default: 'table' },
    'json for machines: counts, and findings with object, operation, verdict and message.',
  ),
}

/**
 * Plugins that are off during the trials. Stored objects already contain their additions, and their refusals (a full quota, an unreachable webhook)
 * do not depend on the files.
 */
const pluginsOff = [
  'NamespaceLifecycle',
  'LimitRanger',
  'ServiceAccount',
  'Priority',
  'DefaultTolerationSeconds',
  'DefaultStorageClass',
  'ResourceQuota',
  'MutatingAdmissionWebhook',
  'ValidatingAdmissionWebhook',
]

/**
 * `orch audit policy.yaml`: reports the stored objects that policies or definitions would refuse, and the rights that roles would remove. It compares
 * two servers in memory with the stored objects, one of which also has the files. The audited server receives only reads. The exit code is 0 if
 * nothing would be refused and no right lost, else 1.
 */
export async function auditCommand(terminal: Terminal, words: readonly string[]): Promise<number> {
  const { flags, paths } = splitWords(auditSettings, words)
  const { values } = await readCommandSettings(auditSettings, terminal, flags)
  if (paths.length === 0) throw new SettingsError('files are needed: orch audit policy.yaml')
  const report = await explained(async () => {
    const { manifests, findings } = await readFiles(paths, terminal.workingFolder)
    const [bad] = findings
    if (bad !== undefined) throw new ManifestError(`${bad.file}:${bad.line}: ${bad.message}`)
    const webhook = manifests.find(({ object }) => object.kind.endsWith('WebhookConfiguration'))
    if (webhook !== undefined) throw new ManifestError(`${webhook.file}:${webhook.line}: webhooks are not called by orch audit`)
    if (values.stored.length === 0) return audit(manifests, await dumpOfServer(terminal, values))
    using dump = await readDump(
      values.stored.map((path) => resolve(terminal.workingFolder, path)),
      pauses(),
    )
    return await audit(manifests, dump)
  })
  terminal.out(values.output === 'json' ? `${JSON.stringify(report, undefined, 2)}\n` : printReport(report))
  return refusesAny(report) ? 1 : 0
}

async function dumpOfServer(terminal: Terminal, place: { readonly kubeconfig: string; readonly context: string }): Promise<StoredObjects> {
  const { client } = await openCluster(terminal, place)
  try {
    return { objects: await objectsOfServer(client, 'the server'), unread: [] }
  } finally {
    client.close()
  }
}

type StoredObjects = Pick<Dump, 'objects' | 'unread'>

async function audit(given: readonly Manifest[], stored: StoredObjects): Promise<AuditReport> {
  const manifests = [...given, ...storedBindings(given, stored)]
  const profile = profileOf([...manifests.map(({ object }) => object), ...stored.objects])
  // Loaded here, so that help is printed without a server.
  const { start } = await import('../start/start.ts')
  await using before = await start({
    profile,
    controllers: ['clusterrole-aggregation'],
    control: true,
    flags: ['--authorization-mode=RBAC', `--disable-admission-plugins=${pluginsOff.join(',')}`],
  })
  const { client } = before
  const loaded = await loadDump(stored, {}, { client, store: storeOver(client.transport) })
  await before.settled({ within: settledWithinMs })
  await using after = await before.fork()
  const policies = new KnownPolicies(manifests)
  for (const manifest of manifests.toSorted((one, other) => turnOf(one.object) - turnOf(other.object))) {
    await put(after.client, manifest, policies.prepared(withoutServerState(manifest.object).object))
    policies.accept(manifest)
  }
  await after.settled({ within: settledWithinMs })
  const servers = { before: client, after: after.client }
  const names = new Set(stored.objects.map(nameWithoutVersion))
  const trials = new ObjectTrials(servers, policies, (object) => names.has(nameWithoutVersion(object)))
  await trials.run(manifests)
  const hasRoles = manifests.some(({ object }) => roleKinds.includes(object.kind))
  return {
    stored: loaded.loaded,
    tried: trials.tried,
    findings: trials.findings,
    access: hasRoles ? await findAccessChanges(servers, stored.objects, namesOf(profile)) : [],
    unchecked: trials.unchecked,
    notes: notesOf(manifests, policies, loaded),
  }
}

/** Policy bindings of the stored objects for policies in the files. They are written again, so that auditing bindings warn. */
function storedBindings(given: readonly Manifest[], { objects }: StoredObjects): Manifest[] {
  const isGiven = (kind: string, name: string | undefined) =>
    given.some(({ object }) => object.kind === kind && object.metadata.name === name)
  return objects
    .filter(({ kind, name }) => kind.endsWith('AdmissionPolicyBinding') && !isGiven(kind, name))
    .map(({ read, file }) => ({ object: read().object, file, line: 1, repeats: [] }))
    .filter(({ object }) => isGiven(object.kind.slice(0, -'Binding'.length), bindingOf(object).policyName))
}

function notesOf(manifests: readonly Manifest[], policies: KnownPolicies, { unknown, findings }: LoadReport): string[] {
  const bound = new Set(manifests.map(({ object }) => `${object.kind} ${bindingOf(object).policyName}`))
  const unbound = manifests
    .map(({ object }) => object)
    .filter(({ kind, metadata }) => kind.endsWith('AdmissionPolicy') && !bound.has(`${kind}Binding ${metadata.name}`))
  return [
    ...unbound.map(({ kind, metadata }) => `${kind} ${metadata.name}: no binding puts it into effect: it refuses nothing`),
    ...policies.askingAuthorizer.map(
      ({ object }) => `${object.kind} ${object.metadata.name}: it asks the authorizer: requests are those of an administrator`,
    ),
    ...Object.entries(unknown).map(([kind, count]) => `${count} ${kind} are not tried: the kind is not served`),
    ...findings.map(({ object, reason }) => `${object}: ${reason}`),
  ]
}

/** The name of an object in any version of its group. */
function nameWithoutVersion({ apiVersion, ...object }: Parameters<typeof nameOf>[0]): string {
  return nameOf({ ...object, apiVersion: apiVersion.replace(/[^/]*$/, '') })
}

/** Timeout of the controllers that aggregate the roles of a large dump. */
const settledWithinMs = 60_000

/** Policies are created last, so that they do not evaluate the files themselves. */
function turnOf(object: ApiObject): number {
  if (policyKinds.includes(object.kind)) return 2
  return isDefinition(object) || object.kind === 'Namespace' ? 0 : 1
}

/** Creates an object of the files, or replaces the stored one. */
async function put(client: Client, { file, line }: Manifest, object: ApiObject): Promise<void> {
  const { apiVersion, kind, metadata } = object
  const { name = '', namespace = 'default' } = metadata
  try {
    const written = await client.objects.create(object).catch(async (error: unknown) => {
      if (!isRefusal(error, ['AlreadyExists'])) throw error
      const { resourceVersion } = (await client.objects.get({ apiVersion, kind, name, namespace })).metadata
      return client.objects.update({ ...object, metadata: { ...metadata, resourceVersion } })
    })
    if (isDefinition(object)) await untilServed(client, written)
  } catch (error) {
    if (error instanceof StatusError || error instanceof ManifestError)
      throw new StartError(`${file}:${line}: ${apiVersion} ${kind} ${name}: ${error.message}`, { cause: error })
    throw error
  }
}
