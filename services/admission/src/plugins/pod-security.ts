import { type AdmissionRule, type Attributes, type AuditAnnotation, keysOf, type MetricCount } from '@orch/core/contracts'
import { parseBytes } from '@orch/core/json'
import { type ApiObject, invalid, notFound } from '@orch/core/meta'
import { type Names, subdomainLabel } from '@orch/core/names'
import { requireType } from '@orch/core/schema'
import { ended, Reflector } from '@orch/platform'
import { allowed, type Conditions, denied, forbid, type Inquiry, type Plugin, type PluginNeeds, type Verdict } from '../plugin.ts'
import type { Judge } from '../pod-security/baseline.ts'
import { type PodSecurityConfiguration, readPodSecurityConfiguration } from '../pod-security/configuration.ts'
import { evaluatePod, printViolations } from '../pod-security/evaluate.ts'
import { warnOfPods } from '../pod-security/namespace-pods.ts'
import type { PodView } from '../pod-security/pod.ts'
import {
  compareLevels,
  isFullyPrivileged,
  isSameLevelVersion,
  type LevelVersion,
  type Mode,
  modes,
  type PolicyReading,
  policyOf,
  printLevelVersion,
  printPolicy,
  printVersion,
} from '../pod-security/policy.ts'
import { isSignificantUpdate, podView, templateResources, templateView } from '../pod-security/templates.ts'

/** The cached facts of a Namespace. */
interface NamespaceState extends PolicyReading {
  /** The unchanged Namespace: the condition of a decision about a Pod. */
  readonly conditions: Conditions
}

const prefix = 'core/namespaces'
/**
 * PodSecurity: Pods must satisfy the level in their namespace's labels. A violation is refused, recorded or causes a warning; templates of workloads are
 * never refused. A decision holds on condition that the Namespace is unchanged.
 */
export function podSecurity(needs: PluginNeeds): Plugin {
  const { storage, catalogue, clock, log, random } = needs
  const { names, level } = catalogue
  const configuration = readPodSecurityConfiguration(needs.configuration, names)
  const rules = { configuration, names, level, privileged: privilegedWords({ names, level }) }
  const closed = new AbortController()
  const decode = (value: Uint8Array, key: string) => stateOf(value, key, rules)
  const reflector = new Reflector({ storage, clock, log, random, resource: prefix, decode, signal: closed.signal })

  const keyOf = keysOf(prefix)
  const latest = async (namespace: string): Promise<NamespaceState | undefined> => {
    const key = keyOf(undefined, namespace)
    const { entry } = await storage.get({ key, read: { kind: 'latest' } })
    return entry === undefined ? undefined : decode(entry.value, key)
  }
  /** No refusal is based on memory alone. */
  const decide = (attributes: Attributes, decideBy: (state: NamespaceState) => Verdict): Verdict | Promise<Verdict> => {
    const known = reflector.get(keyOf(undefined, attributes.namespace))
    const verdict = known === undefined ? undefined : decideBy(known)
    if (verdict !== undefined && verdict.kind !== 'denied') return verdict
    return latest(attributes.namespace).then((state) => (state === undefined ? lost(attributes) : decideBy(state)))
  }

  return {
    admissionRules,
    validate(attributes, inquiry) {
      if (attributes.group === '' && attributes.resource === 'namespaces') return checkNamespace(attributes, inquiry, rules, needs)
      const exemption = exemptionOf(attributes, configuration, names)
      if (exemption !== undefined) return exemption
      const { operation, object, oldObject } = attributes
      const isUpdate = isPod(attributes) && operation === 'UPDATE'
      if (isUpdate && !isSignificantUpdate(podView(object), podView(oldObject), names)) return allowed
      return decide(
        attributes,
        isPod(attributes) ? (state) => checkPod(attributes, state, rules) : (state) => checkTemplate(attributes, state, rules),
      )
    },
    // For a Namespace it reads Pods, which is slow; templates are rarely written.
    looksOnly: isPod,
    close: () => closed.abort(ended),
  }
}

function isPod({ group, resource }: Attributes): boolean {
  return group === '' && resource === 'pods'
}

const admissionRules: readonly AdmissionRule[] = [
  admissionRuleFor('', ['pods', 'pods/ephemeralcontainers', 'namespaces', ...(templateResources[''] ?? [])]),
  ...Object.entries(templateResources)
    .filter(([group]) => group !== '')
    .map(([group, resources]) => admissionRuleFor(group, resources)),
]

function admissionRuleFor(group: string, resources: readonly string[]): AdmissionRule {
  return { phase: 'validate', operations: ['CREATE', 'UPDATE'], groups: [group], resources, namespaces: [] }
}

function stateOf(value: Uint8Array, key: string, { configuration: { defaults }, names }: EvaluationRules): NamespaceState {
  // The gateway has validated all objects in storage.
  const { metadata }: ApiObject = parseBytes(value)
  const conditions = [{ key, revision: Number(metadata.resourceVersion) }]
  return { ...policyOf(metadata.labels ?? {}, defaults, names), conditions }
}

interface EvaluationRules extends Judge {
  readonly configuration: PodSecurityConfiguration
  readonly privileged: PrivilegedWords
}

/** The cached verdict on a Pod in a privileged namespace. */
type PrivilegedWords = (attributes: Attributes, enforce: LevelVersion) => Pick<Verdict, 'auditAnnotations' | 'counts'>

function privilegedWords(judge: Judge): PrivilegedWords {
  const auditAnnotations = [annotation(judge.names, 'enforce-policy', 'privileged:latest')]
  const countsOf = new Map<string, readonly MetricCount[]>()
  return (attributes, enforce) => {
    // Labels of Pods are two operations and a subresource; clients choose versions freely.
    const key = `${attributes.operation} ${attributes.subresource}`
    let counts = enforce.version === 'latest' ? countsOf.get(key) : undefined
    if (counts === undefined) {
      counts = [evaluationCount(attributes, { mode: 'enforce', ...enforce, isAllowed: true, latest: judge.level })]
      if (enforce.version === 'latest') countsOf.set(key, counts)
    }
    return { auditAnnotations, counts }
  }
}

/** The namespace was deleted during the request; templates are not refused. */
function lost(attributes: Attributes): Verdict {
  const { resource, namespace } = attributes
  if (resource !== 'pods') return allowed
  return { ...denied(notFound({ group: '', resource: 'namespaces' }, namespace)), counts: [errorCount(attributes, true)] }
}

function exemptionOf(attributes: Attributes, { exemptions }: PodSecurityConfiguration, names: Names): Verdict | undefined {
  if (exemptions.namespaces.has(attributes.namespace)) return exempt(attributes, 'namespace', names)
  if (exemptions.usernames.has(attributes.user.name)) return exempt(attributes, 'user', names)
  return undefined
}

function exempt(attributes: Attributes, why: string, names: Names): Verdict {
  const counts = [{ name: 'pod_security_exemptions_total', labels: requestLabels(attributes), value: 1 }]
  return { kind: 'allowed', auditAnnotations: [annotation(names, 'exempt', why)], counts }
}

function checkPod(attributes: Attributes, state: NamespaceState, rules: EvaluationRules): Verdict {
  const { policy, errors, conditions } = state
  if (errors.length === 0 && isFullyPrivileged(policy)) {
    return { ...rules.privileged(attributes, policy.enforce), kind: 'allowed', conditions }
  }
  const verdict = checkView({ attributes, view: podView(attributes.object), state, rules, isEnforced: true })
  return verdict.kind === 'allowed' ? { ...verdict, conditions } : verdict
}

function checkTemplate(attributes: Attributes, state: NamespaceState, rules: EvaluationRules): Verdict {
  const { policy, errors } = state
  if (errors.length === 0 && policy.audit.level === 'privileged' && policy.warn.level === 'privileged') return allowed
  const view = templateView(attributes.resource, attributes.object)
  return view === undefined ? allowed : checkView({ attributes, view, state, rules, isEnforced: false })
}

interface ViewEvaluation {
  readonly attributes: Attributes
  readonly view: PodView
  readonly state: NamespaceState
  readonly rules: EvaluationRules
  readonly isEnforced: boolean
}

/** The verdicts of all modes on a Pod. A refused request gets no warning. */
function checkView({ attributes, view, state, rules, isEnforced }: ViewEvaluation): Verdict {
  const { policy, errors } = state
  const { configuration, names, level: latest } = rules
  if (configuration.exemptions.runtimeClasses.has(view.spec.runtimeClassName ?? '')) return exempt(attributes, 'runtimeClass', names)
  const auditAnnotations: AuditAnnotation[] = []
  const counts: MetricCount[] = []
  if (errors.length > 0) {
    const texts = errors.map(({ field, message }) => `${field}: ${message}`)
    const text = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`
    auditAnnotations.push(annotation(names, 'error', `Failed to parse policy: ${text}`))
    counts.push(errorCount(attributes, false))
  }
  const violationsOf = rememberer(view, rules)
  let refusal: string | undefined
  if (isEnforced) {
    const level = printLevelVersion(policy.enforce)
    const violations = violationsOf(policy.enforce)
    auditAnnotations.push(annotation(names, 'enforce-policy', level))
    counts.push(evaluationCount(attributes, { mode: 'enforce', ...policy.enforce, isAllowed: violations === '', latest }))
    if (violations !== '') refusal = `violates PodSecurity "${level}": ${violations}`
  }
  const audited = violationsOf(policy.audit)
  if (audited !== '') {
    const text = `would violate PodSecurity "${printLevelVersion(policy.audit)}": ${audited}`
    auditAnnotations.push(annotation(names, 'audit-violations', text))
    counts.push(evaluationCount(attributes, { mode: 'audit', ...policy.audit, isAllowed: false, latest }))
  }
  if (refusal !== undefined) {
    return { ...denied(forbid(attributes, refusal)), auditAnnotations, counts }
  }
  const warned = violationsOf(policy.warn)
  if (warned === '') return { kind: 'allowed', auditAnnotations, counts }
  counts.push(evaluationCount(attributes, { mode: 'warn', ...policy.warn, isAllowed: false, latest }))
  return {
    kind: 'allowed',
    auditAnnotations,
    counts,
    warnings: [`would violate PodSecurity "${printLevelVersion(policy.warn)}": ${warned}`],
  }
}

/** Modes often share a level, which is evaluated once. */
function rememberer(view: PodView, judge: Judge): (level: LevelVersion) => string {
  const known = new Map<string, string>()
  return (level) => {
    const key = printLevelVersion(level)
    let violations = known.get(key)
    if (violations === undefined) {
      violations = printViolations(evaluatePod(level, view, judge))
      known.set(key, violations)
    }
    return violations
  }
}

/** Labels are validated if they are new; a stricter level warns about the existing Pods that violate it. */
async function checkNamespace(attributes: Attributes, inquiry: Inquiry, rules: EvaluationRules, needs: PluginNeeds): Promise<Verdict> {
  const { operation, object, oldObject, name } = attributes
  const { configuration, names } = rules
  const read = (namespace: unknown) =>
    policyOf(requireType('core/v1.Namespace', namespace).metadata.labels ?? {}, configuration.defaults, names)
  const after = read(object)
  const before = operation === 'UPDATE' ? read(oldObject) : undefined
  if (after.errors.length > 0 && textOf(after) !== textOf(before)) {
    return denied(invalid({ group: '', kind: 'Namespace' }, name, after.errors))
  }
  if (before !== undefined && !isTightened(after, before)) return allowed
  if (configuration.exemptions.namespaces.has(name)) return warnOfExemption(name, after, configuration)
  if (before === undefined) return allowed
  const warnings = await warnOfPods({
    storage: needs.storage,
    clock: needs.clock,
    judge: rules,
    namespace: name,
    enforce: after.policy.enforce,
    exemptRuntimeClasses: configuration.exemptions.runtimeClasses,
    remainingMs: inquiry.context.timeoutMs,
  })
  return { kind: 'allowed', warnings }
}

function textOf(reading: PolicyReading | undefined): string {
  return JSON.stringify(reading?.errors ?? [])
}

function isTightened({ policy: { enforce: after } }: PolicyReading, { policy: { enforce: before } }: PolicyReading): boolean {
  if (after.level === 'privileged' || isSameLevelVersion(after, before)) return false
  return printVersion(after.version) !== printVersion(before.version) || compareLevels(after.level, before.level) > 0
}

function warnOfExemption(namespace: string, { policy }: PolicyReading, { defaults }: PodSecurityConfiguration): Verdict {
  if (isFullyPrivileged(policy) || modes.every((mode) => isSameLevelVersion(policy[mode], defaults[mode]))) return allowed
  const warning = `namespace "${namespace}" is exempt from Pod Security, and the policy (${printPolicy(policy)}) will be ignored`
  return { kind: 'allowed', warnings: [warning] }
}

function annotation(names: Names, key: string, value: string): AuditAnnotation {
  return { key: subdomainLabel(names, 'pod-security', key), value, level: 'Metadata' }
}

function requestLabels({ operation, group, resource, subresource }: Attributes): Record<string, string> {
  const kind = group === '' && resource === 'pods' ? 'pod' : 'controller'
  return { request_operation: operation.toLowerCase(), resource: kind, subresource }
}

interface Evaluation extends LevelVersion {
  readonly mode: Mode
  readonly isAllowed: boolean
  /** The minor version that `latest` means. */
  readonly latest: number
}

function evaluationCount(attributes: Attributes, { mode, level, version, isAllowed, latest }: Evaluation): MetricCount {
  const decision = isAllowed ? 'allow' : 'deny'
  // Clients may request any version, so unknown versions share one label.
  const policyVersion = version !== 'latest' && version.minor > latest ? 'future' : printVersion(version)
  const labels = { decision, policy_level: level, policy_version: policyVersion, mode, ...requestLabels(attributes) }
  return { name: 'pod_security_evaluations_total', labels, value: 1 }
}

function errorCount(attributes: Attributes, isFatal: boolean): MetricCount {
  return { name: 'pod_security_errors_total', labels: { fatal: String(isFatal), ...requestLabels(attributes) }, value: 1 }
}
