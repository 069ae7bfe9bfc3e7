import { readFileSync } from 'node:fs'
import { type Manifest, setAsideText, withoutServerState } from '@orch/client'
import { knownReleases } from '@orch/core/feature-gates'
import { isJsonObject } from '@orch/core/json'
import type { ApiObject } from '@orch/core/meta'
import { type Names, namesOf, profiles } from '@orch/core/names'
import { inspectAs, typeNameAt, typeOfKind } from '@orch/core/schema'
import { type Places, parseYaml } from '@orch/core/yaml'
import { SettingsError, settingsOf, settingTypes } from '@orch/platform'
import { explained } from '../load/load.ts'
import { StartError, type Terminal } from '../process/terminal.ts'
import { generalSettings, readCommandSettings, splitWords } from '../settings/general.ts'
import { type Finding, profileOf, readFiles } from './files.ts'
import { isOfPolicy, KnownPolicies, policyKinds } from './policies.ts'
import { type Answer, Trial, turnOf } from './trial.ts'

const { bool, list, oneOf } = settingTypes
const setting = settingsOf('Validation')

/** All settings of `orch validate`. */
export const validateSettings = {
  config: generalSettings.config,
  logFormat: generalSettings.logFormat,
  profile: setting(
    { flag: '--profile', type: oneOf(['', ...profiles]), defaultDoc: 'that of the files' },
    'Names of API groups, labels and namespaces. By default orch where a file names one of its API groups, else kubernetes.',
  ),
  given: setting(
    { flag: '--given', env: 'ORCH_VALIDATE_GIVEN', type: list },
    'Files and folders with objects that are there already: definitions, namespaces with their pod security labels, quotas, limit ranges, policies with their bindings and parameters.',
  ),
  warningsAreErrors: setting(
    { flag: '--warnings-as-errors', env: 'ORCH_VALIDATE_WARNINGS_AS_ERRORS', type: bool, default: 'false' },
    'Warnings count as errors.',
  ),
  output: setting(
    { flag: '--output', env: 'ORCH_VALIDATE_OUTPUT', type: oneOf(['text', 'json']), default: 'text' },
    'json for machines: findings with file, line, severity, object and message.',
  ),
}

/**
 * `orch validate`: creates the objects of files on a separate server in memory, and prints its refusals and warnings with file and line. The exit
 * code is 0 if no object is refused, else 1.
 */
export async function validate(terminal: Terminal, words: readonly string[]): Promise<number> {
  const { flags, paths } = splitWords(validateSettings, words)
  const { values } = await readCommandSettings(validateSettings, terminal, flags)
  if (paths.length === 0) throw new SettingsError('files or folders are needed: orch validate deploy/')
  const read = (named: readonly string[]) => readFiles(named, terminal.workingFolder)
  const [given, contents] = await explained(() => Promise.all([read(values.given), read(paths)]))
  const nameOf = (file: string) => contents.names.get(file) ?? given.names.get(file) ?? file
  const [bad] = given.findings
  if (bad !== undefined) throw new StartError(`--given: ${nameOf(bad.file)}:${bad.line}: ${bad.message}`)
  const profile =
    values.profile === '' ? profileOf([...given.manifests, ...contents.manifests].map(({ object }) => object)) : values.profile
  // Loaded here, so that help is printed without a server.
  const { start } = await import('../start/start.ts')
  await using server = await start({ profile, controllers: ['*', '-namespace', '-serviceaccount', '-root-ca-cert-publisher'] })
  const trial = new Trial(server.client)
  const all = [...given.manifests, ...contents.manifests]
  const policies = new KnownPolicies(all)
  const objectsOf = (manifests: readonly Manifest[]) => manifests.map(({ object }) => object)
  const unknown = await trial.makeNamespaces(objectsOf(all), objectsOf(all))
  const found = [
    ...contents.findings,
    ...(await takeGiven(trial, given.manifests, policies, nameOf)),
    ...(await tryAll(trial, contents.manifests, policies, namesOf(profile))),
    ...notesOf(contents.manifests, policies, unknown),
  ]
  const findings = found.map((finding) => ({
    ...finding,
    file: nameOf(finding.file),
    severity: values.warningsAreErrors && finding.severity === 'warning' ? ('error' as const) : finding.severity,
  }))
  const sorted = findings.toSorted((one, other) => (one.file === other.file ? one.line - other.line : one.file < other.file ? -1 : 1))
  const counts = { objects: contents.manifests.length, files: contents.files }
  terminal.out(values.output === 'json' ? `${JSON.stringify({ ...counts, findings: sorted }, null, 2)}\n` : printFindings(sorted, counts))
  return sorted.some(({ severity }) => severity === 'error') ? 1 : 0
}

function ordered(manifests: readonly Manifest[], turnOf: (object: ApiObject) => number): Manifest[] {
  return manifests.toSorted((one, other) => turnOf(one.object) - turnOf(other.object))
}

/** Policies are created after the given objects, so they do not check them. */
const givenPolicyTurn = Number.POSITIVE_INFINITY

/** Creates the objects of `--given`, which may contain the metadata that a server adds. */
async function takeGiven(
  trial: Trial,
  manifests: readonly Manifest[],
  policies: KnownPolicies,
  nameOf: (file: string) => string,
): Promise<Finding[]> {
  const lines = new FieldLines()
  const findings: Finding[] = []
  for (const manifest of ordered(manifests, (object) => (policyKinds.includes(object.kind) ? givenPolicyTurn : turnOf(object)))) {
    const { object, setAside } = withoutServerState(manifest.object)
    if (setAside.length > 0) findings.push({ ...placeOf(manifest, lines), severity: 'note', message: setAsideText(setAside) })
    const { refusal } = await trial.put({ object: policies.prepared(object) })
    if (refusal !== undefined) throw new StartError(`--given: ${nameOf(manifest.file)}:${manifest.line}: ${refusal.message}`)
    policies.accept(manifest)
  }
  return findings
}

async function tryAll(trial: Trial, manifests: readonly Manifest[], policies: KnownPolicies, names: Names): Promise<Finding[]> {
  const lines = new FieldLines()
  const findings: Finding[] = []
  /** Policies are created before all other objects; their parameters are created next. */
  const turn = (object: ApiObject) => (policyKinds.includes(object.kind) ? -1 : turnOf(object) + (policies.isParam(object) ? 0 : 0.5))
  for (const manifest of ordered(manifests, turn)) {
    const place = placeOf(manifest, lines)
    for (const { line, message } of manifest.repeats) findings.push({ ...place, line, severity: 'error', message })
    const answer = await trial.create({ object: policies.prepared(manifest.object) })
    const problems = problemsOf(manifest, answer, lines, names)
    findings.push(...(problems ?? findingsOf(manifest, answer, lines, policies)))
    if (answer.refusal !== undefined && !isStrict(answer)) continue
    if (isStrict(answer)) {
      // Ignores the unknown fields once, to find other errors.
      const { refusal } = await trial.create({ object: policies.prepared(manifest.object) }, 'Ignore')
      if (refusal !== undefined) {
        findings.push(...findingsOf(manifest, { refusal, warnings: [] }, lines, policies))
        continue
      }
    }
    policies.accept(manifest)
    const pod = await trial.createPod(manifest)
    if (pod === undefined) continue
    for (const message of pod.warnings.filter(isOfPolicy)) {
      findings.push({ ...place, severity: policies.severityOf(message), message: `of its Pods: ${message}` })
    }
    if (pod.refusal === undefined) continue
    findings.push({ ...place, severity: 'error', message: `its Pods would be refused: ${pod.refusal.message}` })
  }
  return findings
}

/** The inputs of policies that need a cluster. */
function notesOf(manifests: readonly Manifest[], policies: KnownPolicies, unknownNamespaces: readonly string[]): Finding[] {
  const lines = new FieldLines()
  const authorizer = policies.askingAuthorizer.map((manifest): Finding => {
    const message = 'it asks the authorizer, which is not known here: requests are evaluated as those of an administrator'
    return { ...placeOf(manifest, lines), severity: 'note', message }
  })
  const names = policies.readingNamespace
  if (names.length === 0) return authorizer
  const namespaces = unknownNamespaces.flatMap((name): Finding[] => {
    const first = manifests.find(({ object }) => object.metadata.namespace === name)
    if (first === undefined) return []
    const message = `the namespace ${name} is not among the files or those of --given: ${names.join(', ')} see it without labels`
    return [{ ...placeOf(first, lines), severity: 'note', message }]
  })
  return [...authorizer, ...namespaces]
}

function placeOf(manifest: Manifest, lines: FieldLines) {
  const {
    file,
    object: { kind, metadata },
  } = manifest
  return { file, line: lines.lineOf(manifest, ''), object: `${kind} ${metadata.name ?? metadata.generateName ?? ''}` }
}

/** Reports all values of wrong types, and the unknown fields next to them; a server reports only the first such value. */
function problemsOf(manifest: Manifest, { refusal }: Answer, lines: FieldLines, names: Names): Finding[] | undefined {
  const { object } = manifest
  const type = refusal?.code === 400 ? typeOfKind(names, object.apiVersion, object.kind) : undefined
  if (type === undefined) return undefined
  const { mismatches, unknown } = inspectAs(typeNameAt(type, knownReleases.byDefault), object)
  if (mismatches.length === 0) return undefined
  const place = placeOf(manifest, lines)
  const finding = (path: string, message: string): Finding => ({ ...place, line: lines.lineOf(manifest, path), severity: 'error', message })
  return [
    ...mismatches.map(({ path, message }) => finding(path, `${path}: ${message}`)),
    ...unknown.map((path) => finding(path, `unknown field ${JSON.stringify(path)}`)),
  ]
}

function isStrict({ refusal }: Answer): boolean {
  return refusal?.message?.includes(strictPrefix) === true
}

function findingsOf(manifest: Manifest, { refusal, warnings }: Answer, lines: FieldLines, policies: KnownPolicies): Finding[] {
  const place = placeOf(manifest, lines)
  const found = warnings.map((message): Finding => {
    return { ...place, line: lineOf(manifest, message, lines), severity: policies.severityOf(message), message }
  })
  if (refusal === undefined) return found
  const causes = refusal.details?.causes ?? []
  if (causes.length === 0) {
    const problems = (refusal.message ?? '').split(strictPrefix)
    const messages = problems.length === 2 ? (problems[1] ?? '').split(/, (?=unknown field|duplicate field)/) : problems
    for (const message of messages) found.push({ ...place, line: lineOf(manifest, message, lines), severity: 'error', message })
  }
  for (const { field = '', message = '' } of causes) {
    found.push({
      ...place,
      line: lines.lineOf(manifest, field),
      severity: 'error',
      message: field === '' ? message : `${field}: ${message}`,
    })
  }
  return found
}

const strictPrefix = 'strict decoding error: '

/** The line of the field in a message: `unknown field "spec.foo"`, `spec.foo: deprecated …`. */
function lineOf(manifest: Manifest, text: string, lines: FieldLines): number {
  const [, field = ''] = /field "([^"]+)"/.exec(text) ?? /^([a-z]\w*(?:\.\w+|\[[^\]]*\])+): /.exec(text) ?? []
  return lines.lineOf(manifest, field)
}

function printFindings(findings: readonly Finding[], { objects, files }: { readonly objects: number; readonly files: number }): string {
  const lines = findings.map(
    ({ file, line, severity, object, message }) => `${file}:${line}: ${severity}: ${object === '' ? '' : `${object}: `}${message}\n`,
  )
  const count = (severity: Finding['severity']) => findings.filter((finding) => finding.severity === severity).length
  const counts = [plural(count('error'), 'error'), plural(count('warning'), 'warning')]
  if (count('audit') > 0) counts.push(`${count('audit')} audited`)
  if (count('note') > 0) counts.push(plural(count('note'), 'note'))
  const summary = `${plural(objects, 'object')} in ${plural(files, 'file')}: ${counts.join(', ')}\n`
  return lines.join('') + summary
}

function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`
}

/** A document of a file, and the lines of its members. */
interface Document {
  readonly value: unknown
  readonly places: Places
}

/** Finds the lines of fields in files. */
class FieldLines {
  readonly #documents = new Map<string, Document>()

  /** The line of a field, such as `spec.containers[0].image`, or of its nearest ancestor in the file; '' is the object itself. */
  lineOf(manifest: Manifest, field: string): number {
    const { value, places } = this.#read(manifest)
    let node = itemOf(value, manifest)
    let found = manifest.line + firstLine(places, node) - 1
    for (const step of stepsOf(field)) {
      const line = lineIn(places, node, Array.isArray(node) ? Number(step) : step)
      if (line === undefined) break
      found = manifest.line + line - 1
      node = memberOf(node, step)
    }
    return found
  }

  #read({ file, line }: Manifest): Document {
    const key = `${line} ${file}`
    const known = this.#documents.get(key)
    if (known !== undefined) return known
    const lines = readFileSync(file, 'utf8')
      .split(/\r?\n/)
      .slice(line - 1)
    // Leading dashes start the document; a separate parse would take them for its end.
    const source = [(lines[0] ?? '').replace(/^---(?=\s|$)/, ''), ...lines.slice(1)].join('\n')
    const places: Places = new Map()
    const parsed = parseYaml(source, places)
    const read = { value: parsed.kind === 'yaml' ? parsed.value : undefined, places }
    this.#documents.set(key, read)
    return read
  }
}

/** The line of a member or an item in its document. */
function lineIn(places: Places, node: unknown, at: string | number): number | undefined {
  return typeof node === 'object' && node !== null ? places.get(node)?.get(at) : undefined
}

function memberOf(node: unknown, step: string): unknown {
  if (Array.isArray(node)) return node[Number(step)]
  return isJsonObject(node) ? node[step] : undefined
}

/** The line of the first member. */
function firstLine(places: Places, node: unknown): number {
  const members = typeof node === 'object' && node !== null ? places.get(node) : undefined
  return Math.min(...(members?.values() ?? []), members === undefined || members.size === 0 ? 1 : Number.POSITIVE_INFINITY)
}

/** Finds the item of a List by its name. */
function itemOf(value: unknown, { object }: Manifest): unknown {
  const items: readonly unknown[] = isJsonObject(value) && Array.isArray(value['items']) ? value['items'] : []
  const name = object.metadata.name
  return items.find((item) => isJsonObject(item) && isJsonObject(item['metadata']) && item['metadata']['name'] === name) ?? value
}

/** `spec.ports[0].name` and `metadata.labels[a.b/c]` as steps. */
function stepsOf(field: string): string[] {
  return [...field.matchAll(/\[([^\]]*)\]|([^.[\]]+)/g)].map(([, inBrackets, name]) => inBrackets ?? name ?? '')
}
