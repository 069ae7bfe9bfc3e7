import { jsonEqual } from '../../json/index.ts'
import { domainGroup, domainLabel, type Names, subdomainLabel } from '../../names.ts'
import { isHeadless, type Service } from './endpoint-pods.ts'

/** Labels and annotations of Endpoints and EndpointSlices. */
export type EndpointNames = ReturnType<typeof endpointNames>

export function endpointNames(names: Names) {
  return {
    headless: subdomainLabel(names, 'service', 'headless'),
    endpointsManagedBy: subdomainLabel(names, 'endpoints', 'managed-by'),
    overCapacity: subdomainLabel(names, 'endpoints', 'over-capacity'),
    triggerTime: subdomainLabel(names, 'endpoints', 'last-change-trigger-time'),
    serviceName: domainLabel(names, 'service-name'),
    managedBy: subdomainLabel(names, 'endpointslice', 'managed-by'),
    skipMirror: subdomainLabel(names, 'endpointslice', 'skip-mirror'),
    leader: subdomainLabel(names, 'control-plane.alpha', 'leader'),
    zone: subdomainLabel(names, 'topology', 'zone'),
    /** Values of the label `managedBy`. */
    sliceManager: domainGroup(names, 'endpointslice-controller'),
    mirrorManager: domainGroup(names, 'endpointslicemirroring-controller'),
  }
}

type Labels = Readonly<Record<string, string>>

/** The first level at which Endpoints have a label with their controller. */
const endpointsManagedSince = 33

/** As upstream, the label of headless Services alone is no reason to write. */
export function equalLabels(left: Labels = {}, right: Labels, { headless }: EndpointNames): boolean {
  const { [headless]: _left, ...ofLeft } = left
  const { [headless]: _right, ...ofRight } = right
  return jsonEqual(ofLeft, ofRight)
}

/** Labels of the Endpoints of a Service. */
export function endpointsLabels(service: Service, names: EndpointNames, level: number): Labels {
  const { [names.headless]: _, [names.endpointsManagedBy]: _manager, ...own } = service.metadata.labels ?? {}
  return {
    ...own,
    ...(isHeadless(service) && { [names.headless]: '' }),
    ...(level >= endpointsManagedSince && { [names.endpointsManagedBy]: 'endpoint-controller' }),
  }
}

/** Labels of a Service's slices; reserved labels are not copied from the Service. */
export function sliceLabels(service: Service, names: EndpointNames): Labels {
  const { [names.headless]: _, [names.serviceName]: _name, [names.managedBy]: _manager, ...own } = service.metadata.labels ?? {}
  return {
    ...own,
    ...(isHeadless(service) && { [names.headless]: '' }),
    [names.serviceName]: service.metadata.name ?? '',
    [names.managedBy]: names.sliceManager,
  }
}
