import type { WarningContext, WarningRule } from '../../kind/define-resource.ts'
import { checkLabel, textAt } from '../../meta/index.ts'
import { domainLabel, type Names } from '../../names.ts'
import { isSame, itemsOf, type Part, partOf, textOf } from '../../validation/part.ts'
import { templateGenerationAnnotation } from '../defaults/workloads.ts'
import { isGiven, numberOf } from '../validation/checks.ts'
import { zonesRefusedSince } from '../validation/cron-job.ts'
import { warningsOfCidr, warningsOfIp } from './address-warnings.ts'
import { warningsOfClaimSpec } from './claim-warnings.ts'
import { warningsOfPod, warningsOfTemplate } from './pod-warnings.ts'

const ofTemplate =
  (...path: string[]) =>
  (object: Part, live: Part | undefined, names: Names, { level }: Pick<WarningContext, 'level'>): string[] =>
    isAsBefore(object, live) ? [] : warningsOfTemplate(path.reduce(partOf, object), path.join('.'), { names, level })

export const warningsOfPodTemplate = ofTemplate('template')
const warningsOfSpecTemplate = ofTemplate('spec', 'template')
const ofJobTemplate = ofTemplate('spec', 'jobTemplate', 'spec', 'template')

/** The first level that warns about names that are not a single DNS label, which host names of Pods should be. */
const namesWarnedSince = 27

/** The warning about a new object whose name is used in Pod names but is not a DNS label. */
function ofName(object: Part, live: Part | undefined, level: number, use = 'in Pod names and hostnames'): string[] {
  if (live !== undefined || level < namesWarnedSince) return []
  const problems = checkLabel(textOf(partOf(object, 'metadata'), 'name'))
  if (problems.length === 0) return []
  const why = `this is used ${use}, which can result in surprising behavior; a DNS label is recommended`
  return [`metadata.name: ${why}: [${problems.map((problem) => textAt(problem, level)).join(' ')}]`]
}

/** The warnings about an owner of Pods, whose names begin with its name. */
export const warningsOfOwner: WarningRule = (owner, live, names, { level }) => [
  ...ofName(owner, live, level),
  ...warningsOfSpecTemplate(owner, live, names, { level }),
]

/** The first level that warns about a negative revision history limit. */
const historyWarnedSince = 33

/** The warnings about a StatefulSet: its template, claims and history. As in kube-apiserver, an update has another path for claims. */
export const warningsOfStatefulSet: WarningRule = (set, live, names, { level }) => {
  const spec = partOf(set, 'spec')
  const part = live === undefined ? '' : '.Spec'
  const ofClaims = itemsOf(spec, 'volumeClaimTemplates').flatMap((claim, index) =>
    warningsOfClaimSpec(partOf(claim, 'spec'), `spec.volumeClaimTemplates[${index}]${part}`, level),
  )
  const isEndless = level >= historyWarnedSince && Number(numberOf(spec, 'revisionHistoryLimit') ?? 0) < 0
  const ofHistory = 'spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended'
  return [...warningsOfSpecTemplate(set, live, names, { level }), ...ofClaims, ...(isEndless ? [ofHistory] : [])]
}

/** Warns only about new Pods: most updates are made by programs, which do not read warnings. */
export const warningsOfNewPod: WarningRule = (pod, live, names, { level }) =>
  live === undefined ? [...ofName(pod, live, level, "in the Pod's hostname"), ...warningsOfPod(pod, names, level)] : []

export const warningsOfDaemonSet: WarningRule = (set, live, names, { level }) =>
  hasCountedTemplate(set, live) ? [] : warningsOfSpecTemplate(set, undefined, names, { level })

/** The first level that warns about a large Indexed Job with high parallelism. */
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

export const warningsOfJob: WarningRule = (job, live, names, { level }) =>
  isAsBefore(job, live)
    ? []
    : [
        ...ofName(job, live, level),
        ...warningsOfJobSpec(partOf(job, 'spec'), 'spec', level),
        ...warningsOfSpecTemplate(job, live, names, { level }),
      ]

export const warningsOfCronJob: WarningRule = (job, live, names, { level }) => {
  const spec = partOf(partOf(partOf(job, 'spec'), 'jobTemplate'), 'spec')
  const ofSpec = isAsBefore(job, live) ? [] : warningsOfJobSpec(spec, 'spec.jobTemplate.spec', level)
  return [
    ...ofName(job, live, level),
    ...ofSpec,
    ...ofJobTemplate(job, live, names, { level }),
    ...warningsOfSchedule(job, live, names, level),
  ]
}

/** True if the spec is unchanged, which the generation shows. */
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
  const more = `see https://${names.labelDomain}/docs/concepts/workloads/controllers/cron-jobs/ for more details`
  if (level < zonesRefusedSince) return [`CRON_TZ or TZ used in spec.spec.schedule is not officially supported, ${more}`]
  return live === undefined ? [] : [`cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, ${more}`]
}

/** The first level that warns about the annotation for the class of an Ingress. */
const classWarnedSince = 27

export const warningsOfIngress: WarningRule = (ingress, live, names, { level }) => {
  const annotation = domainLabel(names, 'ingress.class')
  const isOld = isGiven(partOf(partOf(ingress, 'metadata'), 'annotations'), annotation)
  if (level < classWarnedSince || live !== undefined || !isOld || isGiven(partOf(ingress, 'spec'), 'ingressClassName')) return []
  return [`annotation ${JSON.stringify(annotation)} is deprecated, please use 'spec.ingressClassName' instead`]
}

/** The first level that warns about accounts that restrict the Secrets of their Pods. */
const mountableSecretsSince = 32

export const warningsOfServiceAccount: WarningRule = (account, live, names, { level }) => {
  const annotation = domainLabel(names, 'enforce-mountable-secrets')
  const has = (one: Part | undefined) => isGiven(partOf(partOf(one, 'metadata'), 'annotations'), annotation)
  if (level < mountableSecretsSince || !has(account) || has(live)) return []
  const why = 'deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets'
  return [`metadata.annotations[${annotation}]: ${why}`]
}

/** The first level that warns about node ranges and Pod addresses that are not in canonical form. */
const addressesSince = 33

/** The warnings about addresses in a Pod's status. */
export const warningsOfPodStatus: WarningRule = (pod, _live, _names, { level }) => {
  if (level < addressesSince) return []
  const status = partOf(pod, 'status')
  return ['podIPs', 'hostIPs'].flatMap((list) =>
    itemsOf(status, list).flatMap((address, index) => warningsOfIp(textOf(address, 'ip'), `status.${list}[${index}].ip`, level)),
  )
}

/** The first level at which nodes cannot be configured by ConfigMaps. */
const configSourceGoneSince = 26
/** The first level that warns about an external id. */
const externalIdWarnedSince = 27
const planned = 'deprecated in v1.22, support removal is planned in v1.23'

/** The warnings about unused fields of a Node, and about its ranges. */
export const warningsOfNode: WarningRule = (node, _live, _names, { level }) => {
  const spec = partOf(node, 'spec')
  const ranges = level < addressesSince ? [] : itemsOf<string>(spec, 'podCIDRs')
  return [
    ...(isGiven(spec, 'configSource') ? [`spec.configSource: ${level < configSourceGoneSince ? planned : 'the feature is removed'}`] : []),
    ...(level < externalIdWarnedSince || textOf(spec, 'externalID') === ''
      ? []
      : ['spec.externalID: this field is deprecated, and is unused by Kubernetes']),
    ...ranges.flatMap((range, index) => warningsOfCidr(range, `spec.podCIDRs[${index}]`, level)),
  ]
}

/** The first level that warns about tokens in volume attributes, and the field that moves them to secrets. */
const tokensWarnedSince = 35
const inSecrets = 'serviceAccountTokenInSecrets'

/** The warning about a CSIDriver that receives tokens in a way that may log them. */
export const warningsOfCsiDriver: WarningRule = (driver, live, _names, { level }) => {
  const [spec, before] = [partOf(driver, 'spec'), partOf(live, 'spec')]
  if (level < tokensWarnedSince || isGiven(spec, inSecrets) || itemsOf(spec, 'tokenRequests').length === 0) return []
  if (live !== undefined && isSame(spec['tokenRequests'], before['tokenRequests'])) return []
  const advice = 'if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes'
  return [`spec.${inSecrets} is unset; ${advice}`]
}

/** Warns about a driver name with capitals: names that differ only in case are different drivers. */
export function warningsOfSlice(slice: Part): string[] {
  const driver = textOf(partOf(slice, 'spec'), 'driver')
  if (driver === driver.toLowerCase()) return []
  return [`spec.driver: driver names should be lowercase; ${JSON.stringify(driver)} contains uppercase characters`]
}
