import type { WarningRule } from '../../kind/define-resource.ts'
import { textAt } from '../../meta/level-text.ts'
import { checkLabel } from '../../meta/validate-names.ts'
import { domainLabel, type Names } from '../../names.ts'
import { isSame, itemsOf, type Part, partOf, textOf } from '../../validation/part.ts'
import { templateGenerationAnnotation } from '../defaults/workloads.ts'
import { isGiven, numberOf } from '../validation/checks.ts'
import { zonesRefusedSince } from '../validation/cron-job.ts'
import { warningsOfCidr, warningsOfIp } from './address-warnings.ts'
import { warningsOfClaimSpec } from './claim-warnings.ts'
import { warningsOfPod, warningsOfTemplate } from './pod-warnings.ts'

const ofTemplate =
  (...path: string[]): WarningRule =>
  (object, live, names, level) =>
    isAsBefore(object, live) ? [] : warningsOfTemplate(path.reduce(partOf, object), path.join('.'), { names, level })

export const warningsOfPodTemplate = ofTemplate('template')
const warningsOfSpecTemplate = ofTemplate('spec', 'template')
const ofJobTemplate = ofTemplate('spec', 'jobTemplate', 'spec', 'template')

/** The first level that warns of names of several labels, which hosts of Pods seldom have. */
const namesWarnedSince = 27

/** The warning of a new object whose name is not one label, as Pods get it. */
function ofName(object: Part, live: Part | undefined, level: number, use = 'in Pod names and hostnames'): string[] {
  if (live !== undefined || level < namesWarnedSince) return []
  const problems = checkLabel(textOf(partOf(object, 'metadata'), 'name'))
  if (problems.length === 0) return []
  const why = `this is used ${use}, which can result in surprising behavior; a DNS label is recommended`
  return [`metadata.name: ${why}: [${problems.map((problem) => textAt(problem, level)).join(' ')}]`]
}

/** The warnings of an owner of Pods that have its name. */
export const warningsOfOwner: WarningRule = (owner, live, names, level) => [
  ...ofName(owner, live, level),
  ...warningsOfSpecTemplate(owner, live, names, level),
]

/** The first level that warns of a negative number of revisions. */
const historyWarnedSince = 33

/** The warnings of a StatefulSet: its template, its claims, and its history. An update has another path for claims, as in kube-apiserver. */
export const warningsOfStatefulSet: WarningRule = (set, live, names, level) => {
  const spec = partOf(set, 'spec')
  const part = live === undefined ? '' : '.Spec'
  const ofClaims = itemsOf(spec, 'volumeClaimTemplates').flatMap((claim, index) =>
    warningsOfClaimSpec(partOf(claim, 'spec'), `spec.volumeClaimTemplates[${index}]${part}`, level),
  )
  const isEndless = level >= historyWarnedSince && Number(numberOf(spec, 'revisionHistoryLimit') ?? 0) < 0
  const ofHistory = 'spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended'
  return [...warningsOfSpecTemplate(set, live, names, level), ...ofClaims, ...(isEndless ? [ofHistory] : [])]
}

/** Pods are mostly updated by programs, which do not read warnings. */
export const warningsOfNewPod: WarningRule = (pod, live, names, level) =>
  live === undefined ? [...ofName(pod, live, level, "in the Pod's hostname"), ...warningsOfPod(pod, names, level)] : []

export const warningsOfDaemonSet: WarningRule = (set, live, names, level) =>
  hasCountedTemplate(set, live) ? [] : warningsOfSpecTemplate(set, undefined, names, level)

/** The first level at which a large Indexed Job of many Pods at a time is warned of. */
const largeJobsSince = 28
const completionsMax = 100_000
const parallelismMax = 10_000

function warningsOfJobSpec(spec: Part, path: string, level: number): string[] {
  const countOf = (name: string): number => Number(numberOf(spec, name) ?? 0)
  const isLarge = textOf(spec, 'completionMode') === 'Indexed' && countOf('completions') > completionsMax
  if (level < largeJobsSince || !isLarge || countOf('parallelism') <= parallelismMax) return []
  const rule = 'In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4'
  return [`${path}: ${rule}, Kubernetes might not be able to track completedIndexes when a big number of indexes fail`]
}

export const warningsOfJob: WarningRule = (job, live, names, level) =>
  isAsBefore(job, live)
    ? []
    : [
        ...ofName(job, live, level),
        ...warningsOfJobSpec(partOf(job, 'spec'), 'spec', level),
        ...warningsOfSpecTemplate(job, live, names, level),
      ]

export const warningsOfCronJob: WarningRule = (job, live, names, level) => {
  const spec = partOf(partOf(partOf(job, 'spec'), 'jobTemplate'), 'spec')
  const ofSpec = isAsBefore(job, live) ? [] : warningsOfJobSpec(spec, 'spec.jobTemplate.spec', level)
  return [...ofName(job, live, level), ...ofSpec, ...ofJobTemplate(job, live, names, level), ...warningsOfSchedule(job, live, names, level)]
}

/** The generation counts changes of the object's spec. */
function isAsBefore(object: Part, live: Part | undefined): boolean {
  return live !== undefined && partOf(object, 'metadata')['generation'] === partOf(live, 'metadata')['generation']
}

function hasCountedTemplate(set: Part, live: Part | undefined): boolean {
  if (live === undefined) return false
  const countOf = (object: Part): string => textOf(partOf(partOf(object, 'metadata'), 'annotations'), templateGenerationAnnotation)
  return countOf(set) === countOf(live)
}

function warningsOfSchedule(job: Part, live: Part | undefined, names: Names, level: number): string[] {
  if (!textOf(partOf(job, 'spec'), 'schedule').includes('TZ')) return []
  if (level >= zonesRefusedSince) {
    const page = `https://${names.labelDomain}/docs/concepts/workloads/controllers/cron-jobs/`
    return live === undefined ? [] : [`cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see ${page} for more details`]
  }
  return ['CRON_TZ or TZ used in spec.schedule is not officially supported; use spec.timeZone instead']
}

export function warningsOfIngress(ingress: Part, live: Part | undefined, names: Names): string[] {
  const annotation = domainLabel(names, 'ingress.class')
  const isOld = isGiven(partOf(partOf(ingress, 'metadata'), 'annotations'), annotation)
  if (live !== undefined || !isOld || isGiven(partOf(ingress, 'spec'), 'ingressClassName')) return []
  return [`annotation ${JSON.stringify(annotation)} is deprecated, please use 'spec.ingressClassName' instead`]
}

/** The first level at which an account that names the Secrets of its Pods is warned of. */
const mountableSecretsSince = 32

export const warningsOfServiceAccount: WarningRule = (account, _live, names, level) => {
  const annotation = domainLabel(names, 'enforce-mountable-secrets')
  if (level < mountableSecretsSince || !isGiven(partOf(partOf(account, 'metadata'), 'annotations'), annotation)) return []
  const why = 'deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets'
  return [`metadata.annotations[${annotation}]: ${why}`]
}

/** The first level that warns of ranges of nodes, and of addresses of a Pod's status, that have another usual text. */
const addressesSince = 33

/** The warnings of the addresses that a node reports of a Pod. */
export const warningsOfPodStatus: WarningRule = (pod, _live, _names, level) => {
  if (level < addressesSince) return []
  const status = partOf(pod, 'status')
  return ['podIPs', 'hostIPs'].flatMap((list) =>
    itemsOf(status, list).flatMap((address, index) => warningsOfIp(textOf(address, 'ip'), `status.${list}[${index}].ip`, level)),
  )
}

/** The warnings about fields of a Node that nothing reads, and about its ranges. */
export const warningsOfNode: WarningRule = (node, _live, _names, level) => {
  const spec = partOf(node, 'spec')
  const ranges = level < addressesSince ? [] : itemsOf<string>(spec, 'podCIDRs')
  return [
    ...(isGiven(spec, 'configSource') ? ['spec.configSource: the feature is removed'] : []),
    ...(textOf(spec, 'externalID') === '' ? [] : ['spec.externalID: this field is deprecated, and is unused by Kubernetes']),
    ...ranges.flatMap((range, index) => warningsOfCidr(range, `spec.podCIDRs[${index}]`, level)),
  ]
}

/** The first level that warns of tokens among the attributes of a volume, and the member that moves them. */
const tokensWarnedSince = 35
const inSecrets = 'serviceAccountTokenInSecrets'

/** The warning of a CSIDriver that is given tokens where its log may show them. */
export const warningsOfCsiDriver: WarningRule = (driver, live, _names, level) => {
  const [spec, before] = [partOf(driver, 'spec'), partOf(live, 'spec')]
  if (level < tokensWarnedSince || isGiven(spec, inSecrets) || itemsOf(spec, 'tokenRequests').length === 0) return []
  if (live !== undefined && isSame(spec['tokenRequests'], before['tokenRequests'])) return []
  const advice = 'if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes'
  return [`spec.${inSecrets} is unset; ${advice}`]
}

/** Drivers whose names differ in case alone are different drivers. */
export function warningsOfSlice(slice: Part): string[] {
  const driver = textOf(partOf(slice, 'spec'), 'driver')
  if (driver === driver.toLowerCase()) return []
  return [`spec.driver: driver names should be lowercase; ${JSON.stringify(driver)} contains uppercase characters`]
}
