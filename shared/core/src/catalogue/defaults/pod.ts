import { memo } from '@orch/cel/memo'
import type { IsGateOn } from '../../feature-gates.ts'
import { jsonEqual } from '../../json/equal.ts'
import { isJsonObject } from '../../json/member.ts'
import { child, children, type Draft, ensureChild, fill, fillEmpty, readItems, readMember } from '../../kind/draft.ts'
import { type Names, subdomainLabel } from '../../names.ts'
import { isSharedPart, sharedPart } from '../../schema/decode.ts'
import { typeNameAt } from '../../schema/resolve.ts'
import { roundAmounts } from './round-amounts.ts'
import { fillVolume, pullPolicyOf } from './volume.ts'

/** The first level that replaces a negative grace period. */
const graceCorrectedSince = 27

/** The defaults of a Pod besides those of its spec. */
export function fillPod(pod: Draft, names: Names, level: number): void {
  dropOldAnnotations(pod, names)
  fillAddresses(child(pod, 'status'))
  fillSpecOfPod(pod, level)
}

const fillSpecOfPod = onceForShared(fillOwnSpec)
const fillSpecOfTemplate = onceForShared(fillPodSpec)
const fillSpecWithHostPorts = onceForShared(fillSpecOnHost)

/** Fills the spec of a Pod or a template. One that many objects share is completed once, and the result is shared too. */
function onceForShared(fill: (spec: Draft, level: number) => void): (holder: Draft, level: number) => void {
  const completeOf = memo((shared: object, level: number): object => {
    const spec = { ...shared }
    fill(spec, level)
    return jsonEqual(spec, shared) ? shared : sharedPart(typeNameAt('core/v1.PodSpec', level), spec)
  })
  return (holder, level) => {
    const given = holder['spec']
    if (isJsonObject(given) && isSharedPart(given)) holder['spec'] = completeOf(given, level)
    else fill(ensureChild(holder, 'spec'), level)
  }
}

function fillOwnSpec(spec: Draft, level: number): void {
  fillSpecOnHost(spec)
  const grace = spec['terminationGracePeriodSeconds']
  if (level >= graceCorrectedSince && typeof grace === 'number' && grace < 0) spec['terminationGracePeriodSeconds'] = 1
  fill(spec, { enableServiceLinks: true })
  for (const container of [...children(spec, 'containers'), ...children(spec, 'initContainers')]) copyLimits(container)
}

/** The last levels at which templates with host networking get host ports, and at which the gate for that is known. */
const [hostPortsUntil, hostPortsGateUntil] = [27, 30]

/** True if a template with host networking gets host ports, and not only its Pods. */
export function copiesHostPorts(isGateOn: IsGateOn, level: number): boolean {
  return level <= hostPortsUntil || (level <= hostPortsGateUntil && isGateOn('DefaultHostNetworkHostPortsInPodTemplates'))
}

/** The defaults of a Pod spec in a template. */
export function fillPodTemplate(template: Draft | undefined, names: Names, isGateOn: IsGateOn, level: number): void {
  if (template === undefined) return
  dropOldAnnotations(template, names)
  ;(copiesHostPorts(isGateOn, level) ? fillSpecWithHostPorts : fillSpecOfTemplate)(template, level)
}

/** Removes annotations in which old clients stored init containers: they have no effect, and would appear as a difference. */
function dropOldAnnotations(object: Draft, names: Names): void {
  const given = readMember(readMember(object, 'metadata'), 'annotations')
  if (given === undefined) return
  for (const level of ['alpha', 'beta']) {
    for (const name of ['init-containers', 'init-container-statuses']) {
      const annotation = subdomainLabel(names, `pod.${level}`, name)
      if (!Object.hasOwn(given, annotation)) continue
      const metadata = ensureChild(object, 'metadata')
      const { [annotation]: _dropped, ...annotations } = ensureChild(metadata, 'annotations')
      if (Object.keys(annotations).length > 0) metadata['annotations'] = annotations
      else delete metadata['annotations']
    }
  }
}

/** A Pod's address is in an old field, and together with the address of the other family in a newer list. The old field wins if they differ. */
function fillAddresses(status: Draft | undefined): void {
  if (status === undefined) return
  const first = readItems(status, 'podIPs')[0]?.['ip']
  const address = status['podIP']
  if (typeof address !== 'string' || address === '') fillEmpty(status, typeof first === 'string' && first !== '' ? { podIP: first } : {})
  else if (first !== address) status['podIPs'] = [{ ip: address }]
}

/** The defaults of a Pod spec, in a Pod or a template. */
function fillPodSpec(spec: Draft): void {
  fill(spec, {
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    schedulerName: 'default-scheduler',
    securityContext: {},
  })
  // The account is in an old field and in a newer one, which wins if they differ.
  const account = spec['serviceAccountName'] || spec['serviceAccount']
  if (account) {
    if (spec['serviceAccountName'] !== account) spec['serviceAccountName'] = account
    if (spec['serviceAccount'] !== account) spec['serviceAccount'] = account
  }
  roundAmounts(spec, 'overhead')
  const containers = [...children(spec, 'containers'), ...children(spec, 'initContainers')]
  for (const container of [...containers, ...children(spec, 'ephemeralContainers')]) fillContainer(container)
  for (const volume of children(spec, 'volumes')) fillVolume(volume)
}

function fillContainer(container: Draft): void {
  fill(container, {
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: pullPolicyOf(container['image']),
  })
  const resources = child(container, 'resources')
  for (const name of ['limits', 'requests']) roundAmounts(resources, name)
  for (const port of children(container, 'ports')) fill(port, { protocol: 'TCP' })
  for (const name of ['livenessProbe', 'readinessProbe', 'startupProbe']) fillProbe(child(container, name))
  for (const hook of ['postStart', 'preStop']) fillHttpGet(child(child(child(container, 'lifecycle'), hook), 'httpGet'))
  for (const variable of children(container, 'env')) {
    fillEmpty(child(child(variable, 'valueFrom'), 'fieldRef'), { apiVersion: 'v1' })
    fill(child(child(variable, 'valueFrom'), 'fileKeyRef'), { optional: false })
  }
}

function fillProbe(probe: Draft | undefined): void {
  fill(probe, { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 })
  fillHttpGet(child(probe, 'httpGet'))
  fill(child(probe, 'grpc'), { service: '' })
}

function fillHttpGet(action: Draft | undefined): void {
  fill(action, { path: '/', scheme: 'HTTP' })
}

/** The defaults of a spec. With host networking, container ports are also host ports. */
function fillSpecOnHost(spec: Draft): void {
  fillPodSpec(spec)
  if (spec['hostNetwork'] !== true) return
  for (const container of [...children(spec, 'containers'), ...children(spec, 'initContainers')]) {
    for (const port of children(container, 'ports')) fill(port, { hostPort: port['containerPort'] })
  }
}

/** Copies a container's limits to requests that it does not state. */
function copyLimits(container: Draft): void {
  const resources = child(container, 'resources')
  const limits = child(resources, 'limits')
  if (resources === undefined || limits === undefined) return
  const requests = child(resources, 'requests')
  if (requests !== undefined && Object.keys(limits).every((name) => Object.hasOwn(requests, name))) return
  resources['requests'] = { ...limits, ...requests }
}
