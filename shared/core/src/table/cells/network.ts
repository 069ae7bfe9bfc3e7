import { ageOf, classNameOf, countOf, type Data, dataOf, has, listOf, nameOf, numberOf, type ReadCells, textOf, textsOf } from '../cell.ts'
import { loadBalancerOf, moreThan, none, printFirst, printPairs, printSelector, unknown, unset } from '../text.ts'

const shown = 3

export const serviceCells: ReadCells = (object) => {
  const spec = dataOf(object, 'spec')
  return [
    nameOf(object),
    textOf(spec, 'type'),
    textsOf(spec, 'clusterIPs')[0] || none,
    externalAddressOf(spec, dataOf(object, 'status')),
    servicePortsOf(spec),
    ageOf(object),
    printPairs(dataOf(spec, 'selector')),
  ]
}

export const ingressCells: ReadCells = (object) => {
  const spec = dataOf(object, 'spec')
  const ports = listOf(spec, 'tls').length > 0 ? '80, 443' : '80'
  const address = loadBalancerOf(dataOf(object, 'status')).join(',')
  return [nameOf(object), textOf(spec, 'ingressClassName', none), hostsOf(spec), address, ports, ageOf(object)]
}

export const ingressClassCells: ReadCells = (object, names) => {
  const spec = dataOf(object, 'spec')
  return [nameOf(object), classNameOf(object, names, ['ingressclass']), textOf(spec, 'controller'), parametersOf(spec), ageOf(object)]
}

export const endpointsCells: ReadCells = (object) => [nameOf(object), endpointsOf(listOf(object, 'subsets')), ageOf(object)]

export const endpointSliceCells: ReadCells = (object) => {
  const ports = listOf(object, 'ports').map((port) => textOf(port, 'port', textOf(port, 'name', '*')))
  const addresses = listOf(object, 'endpoints').flatMap((endpoint) => textsOf(endpoint, 'addresses'))
  return [nameOf(object), textOf(object, 'addressType'), firstOrUnset(ports), firstOrUnset(addresses), ageOf(object)]
}

export const networkPolicyCells: ReadCells = (object) => [
  nameOf(object),
  printSelector(dataOf(dataOf(object, 'spec'), 'podSelector')),
  ageOf(object),
]

export const clusterCIDRCells: ReadCells = (object) => {
  const spec = dataOf(object, 'spec')
  const addresses = [textOf(spec, 'ipv4', none), textOf(spec, 'ipv6', none)]
  return [nameOf(object), String(numberOf(spec, 'perNodeHostBits')), ...addresses, ageOf(object), nodeSelectorOf(spec)]
}

/** The cells of an IPAddress. As in kube-apiserver, there is no column for its age. */
export const ipAddressCells: ReadCells = (object) => {
  const parent = dataOf(dataOf(object, 'spec'), 'parentRef')
  const [group, namespace] = [textOf(parent, 'group'), textOf(parent, 'namespace')]
  const resource = `${textOf(parent, 'resource')}${group === '' ? '' : `.${group}`}`.toLowerCase()
  const place = [resource, ...(namespace === '' ? [] : [namespace]), textOf(parent, 'name')]
  return [nameOf(object), has(dataOf(object, 'spec'), 'parentRef') ? place.join('/') : none, ageOf(object)]
}

export const serviceCIDRCells: ReadCells = (object) => [
  nameOf(object),
  textsOf(dataOf(object, 'spec'), 'cidrs').join(',') || none,
  ageOf(object),
]

function firstOrUnset(texts: readonly string[]): string {
  return texts.length === 0 ? unset : printFirst(texts, shown)
}

function externalAddressOf(spec: Data, status: Data): string {
  const external = textsOf(spec, 'externalIPs')
  switch (spec['type']) {
    case 'ClusterIP':
    case 'NodePort':
      return external.join(',') || none
    case 'LoadBalancer':
      return [...loadBalancerOf(status), ...external].join(',') || '<pending>'
    case 'ExternalName':
      return textOf(spec, 'externalName')
  }
  return unknown
}

function servicePortsOf(spec: Data): string {
  const ports = listOf(spec, 'ports').map((port) => {
    const nodePort = countOf(port, 'nodePort')
    return `${numberOf(port, 'port')}${nodePort > 0 ? `:${nodePort}` : ''}/${textOf(port, 'protocol')}`
  })
  return ports.join(',') || none
}

/** Rules without a host are counted, although they show no host. */
function hostsOf(spec: Data): string {
  const rules = listOf(spec, 'rules')
  const hosts: string[] = []
  for (const rule of rules) {
    if (hosts.length === shown) return hosts.join(',') + moreThan(shown, rules.length)
    const host = textOf(rule, 'host')
    if (host !== '') hosts.push(host)
  }
  return hosts.join(',') || '*'
}

function parametersOf(spec: Data): string {
  if (!has(spec, 'parameters')) return none
  const parameters = dataOf(spec, 'parameters')
  const group = textOf(parameters, 'apiGroup')
  return `${textOf(parameters, 'kind')}${group === '' ? '' : `.${group}`}/${textOf(parameters, 'name')}`
}

/** A subset without ports only shows its addresses. */
function endpointsOf(subsets: readonly Data[]): string {
  if (subsets.length === 0) return none
  const endpoints = subsets.flatMap((subset) => {
    const addresses = listOf(subset, 'addresses').map((address) => textOf(address, 'ip'))
    const ports = listOf(subset, 'ports')
    return ports.length === 0 ? addresses : ports.flatMap((port) => addresses.map((address) => joinPort(address, port)))
  })
  return printFirst(endpoints, shown)
}

function joinPort(address: string, port: Data): string {
  return `${address.includes(':') ? `[${address}]` : address}:${numberOf(port, 'port')}`
}

function nodeSelectorOf(spec: Data): string {
  if (!has(spec, 'nodeSelector')) return none
  const terms = listOf(dataOf(spec, 'nodeSelector'), 'nodeSelectorTerms')
  return terms
    .flatMap((term) => [listOf(term, 'matchExpressions'), listOf(term, 'matchFields')])
    .filter((requirements) => requirements.length > 0)
    .map((requirements) => `[${requirements.map(requirementText).join(' ')}]`)
    .join(',')
}

function requirementText(requirement: Data): string {
  return `{${textOf(requirement, 'key')} ${textOf(requirement, 'operator')} [${textsOf(requirement, 'values').join(' ')}]}`
}
