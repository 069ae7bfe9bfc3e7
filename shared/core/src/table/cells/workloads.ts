import { printAge } from '../age.ts'
import {
  ageOf,
  type Cell,
  countOf,
  type Data,
  dataOf,
  has,
  listOf,
  momentOf,
  nameOf,
  numberOf,
  type ReadCells,
  since,
  textOf,
} from '../cell.ts'
import {
  containersOf,
  moreThan,
  none,
  podSpecOf,
  printPairs,
  printReference,
  printSelector,
  selectorText,
  unknown,
  unset,
} from '../text.ts'

export const podTemplateCells: ReadCells = (object) => {
  const template = dataOf(object, 'template')
  const labels = dataOf(dataOf(template, 'metadata'), 'labels')
  return [nameOf(object), ...containersOf(dataOf(template, 'spec')), printPairs(labels)]
}

export const podDisruptionBudgetCells: ReadCells = (object) => {
  const spec = dataOf(object, 'spec')
  const allowed = numberOf(dataOf(object, 'status'), 'disruptionsAllowed')
  return [nameOf(object), textOf(spec, 'minAvailable', 'N/A'), textOf(spec, 'maxUnavailable', 'N/A'), allowed, ageOf(object)]
}

export const replicationControllerCells: ReadCells = (object) => {
  const spec = dataOf(object, 'spec')
  return [...replicaCells(object), ageOf(object), ...containersOf(podSpecOf(spec)), printPairs(dataOf(spec, 'selector'))]
}

export const replicaSetCells: ReadCells = (object) => {
  const spec = dataOf(object, 'spec')
  return [...replicaCells(object), ageOf(object), ...containersOf(podSpecOf(spec)), printSelector(spec['selector'])]
}

export const statefulSetCells: ReadCells = (object) => [
  nameOf(object),
  readyOf(object),
  ageOf(object),
  ...containersOf(podSpecOf(dataOf(object, 'spec'))),
]

export const deploymentCells: ReadCells = (object) => {
  const spec = dataOf(object, 'spec')
  const status = dataOf(object, 'status')
  const counts = [numberOf(status, 'updatedReplicas'), numberOf(status, 'availableReplicas')]
  const selector = selectorText(spec['selector'], '<invalid>')
  return [nameOf(object), readyOf(object), ...counts, ageOf(object), ...containersOf(podSpecOf(spec)), selector]
}

export const horizontalPodAutoscalerCells: ReadCells = (object) => {
  const spec = dataOf(object, 'spec')
  const status = dataOf(object, 'status')
  const metrics = listOf(spec, 'metrics')
  const current = listOf(status, 'currentMetrics')
  return [
    nameOf(object),
    printReference(dataOf(spec, 'scaleTargetRef')),
    metricsCell(metrics, current),
    metricsCell(metrics, current, 'named'),
    textOf(spec, 'minReplicas', unset),
    numberOf(spec, 'maxReplicas'),
    numberOf(status, 'currentReplicas'),
    ageOf(object),
  ]
}

export const controllerRevisionCells: ReadCells = (object) => [
  nameOf(object),
  controllerOf(object),
  numberOf(object, 'revision'),
  ageOf(object),
]

export const scaleCells: ReadCells = (object) => {
  const desired = numberOf(dataOf(object, 'spec'), 'replicas')
  return [nameOf(object), desired, numberOf(dataOf(object, 'status'), 'replicas'), ageOf(object)]
}

/** Name, and desired, current and ready replicas. */
function replicaCells(object: Data): Cell[] {
  const status = dataOf(object, 'status')
  const desired = numberOf(dataOf(object, 'spec'), 'replicas')
  return [nameOf(object), desired, numberOf(status, 'replicas'), numberOf(status, 'readyReplicas')]
}

function readyOf(object: Data): string {
  return `${numberOf(dataOf(object, 'status'), 'readyReplicas')}/${numberOf(dataOf(object, 'spec'), 'replicas')}`
}

export function daemonSetCells(object: Data): readonly Cell[] {
  const spec = dataOf(object, 'spec')
  const status = dataOf(object, 'status')
  const podSpec = podSpecOf(spec)
  return [
    nameOf(object),
    numberOf(status, 'desiredNumberScheduled'),
    numberOf(status, 'currentNumberScheduled'),
    numberOf(status, 'numberReady'),
    numberOf(status, 'updatedNumberScheduled'),
    numberOf(status, 'numberAvailable'),
    printPairs(dataOf(podSpec, 'nodeSelector')),
    ageOf(object),
    ...containersOf(podSpec),
    printSelector(spec['selector']),
  ]
}

export function jobCells(object: Data): readonly Cell[] {
  const spec = dataOf(object, 'spec')
  const status = dataOf(object, 'status')
  return [
    nameOf(object),
    stateOf(object, status),
    completionsOf(spec, status),
    durationCell(status),
    ageOf(object),
    ...containersOf(podSpecOf(spec)),
    printSelector(spec['selector']),
  ]
}

/** Conditions that determine a Job's state, in order. Deletion comes after the conditions of its end. */
const states = ['Suspended', 'FailureTarget', 'SuccessCriteriaMet']

function stateOf(object: Data, status: Data): string {
  const conditions = listOf(status, 'conditions')
  const holds = (type: string): boolean => conditions.some((one) => one['type'] === type && one['status'] === 'True')
  const end = ['Complete', 'Failed'].find(holds)
  if (end !== undefined) return end
  return has(dataOf(object, 'metadata'), 'deletionTimestamp') ? 'Terminating' : (states.find(holds) ?? 'Running')
}

function completionsOf(spec: Data, status: Data): string {
  const succeeded = countOf(status, 'succeeded')
  if (has(spec, 'completions')) return `${succeeded}/${numberOf(spec, 'completions')}`
  const parallelism = countOf(spec, 'parallelism')
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`
}

function durationCell(status: Data): Cell {
  const started = momentOf(status['startTime'])
  if (started === undefined) return ''
  const completed = momentOf(status['completionTime'])
  return completed === undefined ? (nowMs) => printAge(nowMs - started) : printAge(completed - started)
}

export function cronJobCells(object: Data): readonly Cell[] {
  const spec = dataOf(object, 'spec')
  const status = dataOf(object, 'status')
  const jobSpec = dataOf(dataOf(spec, 'jobTemplate'), 'spec')
  return [
    nameOf(object),
    textOf(spec, 'schedule'),
    has(spec, 'timeZone') ? textOf(spec, 'timeZone') : none,
    has(spec, 'suspend') ? (spec['suspend'] === true ? 'True' : 'False') : unset,
    listOf(status, 'active').length,
    has(status, 'lastScheduleTime') ? since(status['lastScheduleTime']) : none,
    ageOf(object),
    ...containersOf(podSpecOf(jobSpec)),
    printSelector(jobSpec['selector']),
  ]
}

/** The controller of an object: `deployment.apps/web`. */
function controllerOf(object: Data): string {
  const owner = listOf(dataOf(object, 'metadata'), 'ownerReferences').find(({ controller }) => controller === true)
  if (owner === undefined) return none
  const apiVersion = textOf(owner, 'apiVersion')
  const group = apiVersion.includes('/') ? `.${apiVersion.slice(0, apiVersion.indexOf('/'))}` : ''
  return `${`${textOf(owner, 'kind')}${group}`.toLowerCase()}/${textOf(owner, 'name')}`
}

const shown = 2

/** The metrics of an autoscaler: current/target of the first ones. Since 1.30, resources are named if requested. */
function metricsCell(metrics: readonly Data[], current: readonly Data[], resources?: 'named'): string {
  if (metrics.length === 0) return none
  const texts = metrics
    .slice(0, shown)
    .map((metric, index) => (resources === 'named' ? resourceNameOf(metric) : '') + metricText(metric, current[index]))
  return texts.join(', ') + moreThan(shown, metrics.length)
}

function resourceNameOf(metric: Data): string {
  const resource = dataOf(metric, metric['type'] === 'ContainerResource' ? 'containerResource' : 'resource')
  return has(resource, 'name') ? `${textOf(resource, 'name')}: ` : ''
}

function metricText(metric: Data, current: Data | undefined): string {
  switch (metric['type']) {
    case 'External':
      return valueText(dataOf(metric, 'external'), currentOf(current, 'external'))
    case 'Object':
      return valueText(dataOf(metric, 'object'), currentOf(current, 'object'))
    case 'Pods':
      return `${textOf(currentOf(current, 'pods'), 'averageValue', unknown)}/${textOf(dataOf(dataOf(metric, 'pods'), 'target'), 'averageValue')}`
    case 'Resource':
      return resourceText(dataOf(metric, 'resource'), currentOf(current, 'resource'))
    case 'ContainerResource':
      return resourceText(dataOf(metric, 'containerResource'), currentOf(current, 'containerResource'))
  }
  return '<unknown type>'
}

function currentOf(status: Data | undefined, source: string): Data {
  return status === undefined ? {} : dataOf(dataOf(status, source), 'current')
}

function valueText(source: Data, current: Data): string {
  const target = dataOf(source, 'target')
  if (has(target, 'averageValue')) return `${textOf(current, 'averageValue', unknown)}/${textOf(target, 'averageValue')} (avg)`
  return `${textOf(current, 'value', unknown)}/${textOf(target, 'value')}`
}

function resourceText(source: Data, current: Data): string {
  const target = dataOf(source, 'target')
  if (has(target, 'averageValue')) return `${textOf(current, 'averageValue', unknown)}/${textOf(target, 'averageValue')}`
  return `${percent(current, unknown)}/${percent(target, '<auto>')}`
}

function percent(data: Data, otherwise: string): string {
  return has(data, 'averageUtilization') ? `${textOf(data, 'averageUtilization')}%` : otherwise
}
