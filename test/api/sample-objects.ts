import { authorityPem, certificateRequest } from './certificate-request.ts'

/** One object of every kind that can be created, by kind. The test gives names and namespaces. */
const pod = { containers: [{ name: 'c', image: 'example.com/c:1', ports: [{ name: 'http', containerPort: 80 }] }] }
const labels = { app: 'a' }
const template = { metadata: { labels }, spec: pod }
const selector = { matchLabels: labels }
/** Requests for a kind that does not exist. */
const rule = { operations: ['CREATE'], apiGroups: ['samples.example.com'], apiVersions: ['v1'], resources: ['samples'] }

const podCertificate = {
  signerName: 'example.com/signer',
  ...{ podName: 'p', podUID: 'u', serviceAccountName: 'default', serviceAccountUID: 'v', nodeName: 'n', nodeUID: 'w' },
  // The request without the PEM header and footer.
  stubPKCS10Request: Buffer.from(certificateRequest, 'base64')
    .toString('latin1')
    .replace(/-----[^-]+-----|\n/g, ''),
}

const webhook = {
  name: 'one.example.com',
  clientConfig: { url: 'https://hooks.example.com/one' },
  rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['none'] }],
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  failurePolicy: 'Ignore',
}
const scaleTarget = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }
const job = { template: { metadata: { labels }, spec: { ...pod, restartPolicy: 'Never' } } }
const binding = (kind: string, domain: string) => ({
  subjects: [{ kind: 'User', apiGroup: `rbac.authorization.${domain}`, name: 'jane' }],
  roleRef: { apiGroup: `rbac.authorization.${domain}`, kind, name: 'view' },
})

/** The fields besides kind, apiVersion and metadata. Groups of the names end with `domain`; `namespace` is the object's namespace. */
export function sampleFields(
  kind: string,
  apiVersion: string,
  { domain, namespace }: { domain: string; namespace: string },
): Record<string, unknown> | undefined {
  switch (kind) {
    case 'Namespace':
    case 'ServiceAccount':
      return {}
    case 'ConfigMap':
      return { data: { a: '1', b: 'ü' }, binaryData: { c: 'AAEC' } }
    case 'Secret':
      return { type: 'Opaque', data: { a: 'AAEC' } }
    case 'Pod':
      return { spec: pod }
    case 'PodTemplate':
      return { template }
    case 'ReplicationController':
      return { spec: { replicas: 2, selector: labels, template } }
    case 'Service':
      return {
        spec: {
          selector: labels,
          ports: [
            { name: 'http', port: 80, targetPort: 'http' },
            { name: 'https', port: 443, targetPort: 8443 },
          ],
        },
      }
    case 'Endpoints':
      return { subsets: [{ addresses: [{ ip: '10.1.0.1' }], ports: [{ port: 80, name: 'http' }] }] }
    case 'EndpointSlice':
      return {
        addressType: 'IPv4',
        endpoints: [{ addresses: ['10.1.0.1'], conditions: { ready: true } }],
        ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
      }
    case 'Node':
      return { spec: { podCIDR: '10.2.0.0/24', taints: [{ key: 'k', effect: 'NoSchedule' }] } }
    case 'Event':
      return apiVersion === 'v1'
        ? { involvedObject: { kind: 'Pod', namespace, name: 'p' }, reason: 'Started', message: 'x', type: 'Normal', count: 2 }
        : {
            eventTime: '2026-01-01T00:00:00.123456Z',
            reportingController: 'example.com/c',
            reportingInstance: 'c-1',
            action: 'Start',
            reason: 'Started',
            type: 'Normal',
            regarding: { kind: 'Pod', namespace, name: 'p' },
          }
    case 'LimitRange':
      return { spec: { limits: [{ type: 'Container', default: { cpu: '500m' }, max: { memory: '1Gi' } }] } }
    case 'ResourceQuota':
      return { spec: { hard: { pods: '10', 'requests.cpu': '1500m' } } }
    case 'PersistentVolume':
      return { spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } } }
    case 'PersistentVolumeClaim':
      return { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } }
    case 'ControllerRevision':
      return { data: { spec: { replicas: 1 } }, revision: 3 }
    case 'Deployment':
    case 'ReplicaSet':
      return { spec: { replicas: 2, selector, template } }
    case 'DaemonSet':
      return { spec: { selector, template } }
    case 'StatefulSet':
      return { spec: { serviceName: 's', selector, template } }
    case 'Job':
      return { spec: job }
    case 'CronJob':
      return { spec: { schedule: '*/5 * * * *', jobTemplate: { spec: job } } }
    case 'HorizontalPodAutoscaler':
      return apiVersion.endsWith('/v1')
        ? { spec: { scaleTargetRef: scaleTarget, minReplicas: 1, maxReplicas: 3, targetCPUUtilizationPercentage: 80 } }
        : { spec: { scaleTargetRef: scaleTarget, minReplicas: 1, maxReplicas: 3, metrics: [cpuMetric] } }
    case 'PodDisruptionBudget':
      return { spec: { minAvailable: '50%', selector } }
    case 'Ingress':
      return { spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } } }
    case 'IngressClass':
      return { spec: { controller: 'example.com/ingress' } }
    case 'NetworkPolicy':
      return { spec: { podSelector: selector, ingress: [{ ports: [{ port: 'http' }, { port: 80 }] }] } }
    case 'StorageClass':
      return { provisioner: 'example.com/disk', parameters: { kind: 'fast' } }
    case 'VolumeAttachment':
      return { spec: { attacher: 'disk.example.com', nodeName: 'n', source: { persistentVolumeName: 'pv' } } }
    case 'CSIDriver':
      return { spec: { attachRequired: false } }
    case 'StorageVersionMigration':
      // No server serves the resource, so the migration waits.
      return { spec: { resource: { group: 'samples.example.com', resource: 'samples' } } }
    case 'LeaseCandidate':
      return { spec: { leaseName: 'l', binaryVersion: '1.37.0', emulationVersion: '1.36.0', strategy: 'OldestEmulationVersion' } }
    case 'CSINode':
      return { spec: { drivers: [{ name: 'disk.example.com', nodeID: 'n', allocatable: { count: 4 } }] } }
    case 'CSIStorageCapacity':
      return { storageClassName: 'fast', capacity: '10Gi' }
    case 'PriorityClass':
      return { value: 1000, description: 'x' }
    case 'RuntimeClass':
      return { handler: 'runc' }
    case 'Lease':
      return { spec: { holderIdentity: 'a', leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:00.123456Z' } }
    case 'Role':
    case 'ClusterRole':
      return { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] }
    case 'RoleBinding':
    case 'ClusterRoleBinding':
      return binding(kind === 'RoleBinding' ? 'Role' : 'ClusterRole', domain)
    case 'ValidatingWebhookConfiguration':
    case 'MutatingWebhookConfiguration':
      return { webhooks: [webhook] }
    case 'ValidatingAdmissionPolicy':
      return { spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: 'true' }] } }
    case 'MutatingAdmissionPolicy': {
      const mutations = [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{}' } }]
      return { spec: { matchConstraints: { resourceRules: [rule] }, reinvocationPolicy: 'Never', mutations } }
    }
    case 'ValidatingAdmissionPolicyBinding':
      return { spec: { policyName: 'none', validationActions: ['Deny'] } }
    case 'MutatingAdmissionPolicyBinding':
      return { spec: { policyName: 'none' } }
    case 'CertificateSigningRequest':
      return { spec: { request: certificateRequest, signerName: 'example.com/signer', usages: ['client auth'] } }
    case 'ClusterTrustBundle':
      return { spec: { trustBundle: authorityPem } }
    case 'PodCertificateRequest':
      return { spec: podCertificate }
    case 'DeviceTaintRule':
      return { spec: { taint: { key: 'example.com/broken', effect: 'NoSchedule' } } }
    case 'DeviceClass':
      return { spec: { selectors: [{ cel: { expression: 'device.driver == "gpu.example.com"' } }] } }
    case 'ResourceClaim':
      return { spec: deviceClaimOf(apiVersion) }
    case 'ResourceClaimTemplate':
      return { spec: { spec: deviceClaimOf(apiVersion) } }
    case 'ResourceSlice':
      return {
        spec: {
          driver: 'gpu.example.com',
          nodeName: 'n',
          pool: { name: 'n', generation: 1, resourceSliceCount: 1 },
          devices: [deviceOf(apiVersion)],
        },
      }
    case 'ClusterCIDR':
      return { spec: { perNodeHostBits: 4, ipv4: '10.88.0.0/24', ipv6: '' } }
    case 'StorageVersion':
      return { spec: {} }
    case 'VolumeAttributesClass':
      return { driverName: 'disk.example.com', parameters: { iops: '100' } }
    case 'IPAddress':
      return { spec: { parentRef: { resource: 'services', namespace, name: 's' } } }
    case 'ServiceCIDR':
      return { spec: { cidrs: ['10.77.0.0/24'] } }
    case 'FlowSchema':
      return { spec: { priorityLevelConfiguration: { name: 'low' }, matchingPrecedence: 100 } }
    case 'PriorityLevelConfiguration':
      return { spec: { type: 'Limited', limited: limitedOf(apiVersion) } }
    case 'APIService':
      // The APIService names this server itself: the server would judge the availability of another server while the tests read the object.
      return { spec: { group: 'samples.example.com', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 15 } }
    case 'CustomResourceDefinition':
      return { spec: definitionSpec }
    default:
      return undefined
  }
}

/** True for the versions whose requests are flat and whose devices have a member `basic`. */
const isFlat = (apiVersion: string) => /v1(?:alpha3|beta1)$/.test(apiVersion)

function deviceClaimOf(apiVersion: string): Record<string, unknown> {
  const exactly = { deviceClassName: 'gpu.example.com' }
  return { devices: { requests: [{ name: 'gpu', ...(isFlat(apiVersion) ? exactly : { exactly }) }] } }
}

function deviceOf(apiVersion: string): Record<string, unknown> {
  const capacity = { memory: apiVersion.endsWith('v1alpha3') ? '1Gi' : { value: '1Gi' } }
  return { name: 'gpu-0', ...(isFlat(apiVersion) ? { basic: { capacity } } : { capacity }) }
}

const cpuMetric = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } }

function limitedOf(apiVersion: string): Record<string, unknown> {
  const shares = /v1beta[12]$/.test(apiVersion) ? 'assuredConcurrencyShares' : 'nominalConcurrencyShares'
  return { [shares]: 5, limitResponse: { type: 'Reject' } }
}

/** The fields fit the name `samples.samples.example.com`. */
const definitionSpec = {
  group: 'samples.example.com',
  names: { plural: 'samples', singular: 'sample', kind: 'Sample', listKind: 'SampleList' },
  scope: 'Namespaced',
  versions: [
    {
      name: 'v1',
      served: true,
      storage: true,
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: { spec: { type: 'object', properties: { size: { type: 'integer', default: 3 } } } },
        },
      },
    },
  ],
}

/** The name that an object of a kind must have; undefined: any name. */
export function sampleName(kind: string): string | undefined {
  if (kind === 'CustomResourceDefinition') return 'samples.samples.example.com'
  if (kind === 'IPAddress') return '10.77.0.9'
  if (kind === 'StorageVersion') return 'samples.example.samples'
  return kind === 'APIService' ? 'v1.samples.example.com' : undefined
}
