import { type Data, dataOf, has, textOf } from '../cell.ts'
import { moreThan, none, unknown } from '../text.ts'

const shown = 2

/** The metrics of an autoscaler: current/target of the first ones. Since 1.30, resources are named if requested. */
export function metricsCell(metrics: readonly Data[], current: readonly Data[], resources?: 'named'): string {
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
