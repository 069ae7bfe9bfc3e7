import { existsAt, type Lifetime } from '../description/levels.ts'
import type { ApiObject } from '../meta/object-meta.ts'
import { domainGroup, domainLabel, groupName, type Names, subdomainLabel } from '../names.ts'
import { aggregatedRules } from './aggregate.ts'
import type { BindingObject, PolicyRule, RoleObject } from './rule.ts'

/** The annotation that tells if the server restores an initial role or binding. */
export function autoUpdateAnnotation(names: Names): string {
  return subdomainLabel(names, 'rbac.authorization', 'autoupdate')
}

/** The permissions of every node besides those on its own objects. */
export function nodeRules(names: Names, level: number): readonly PolicyRule[] {
  return named(names, rulesAt(clusterRoleRows().find(({ name }) => name === 'system:node')?.rules ?? [], level))
}

function rulesAt(rules: readonly LevelRule[], level: number): readonly LevelRule[] {
  return rules.filter((rule) => existsAt(rule, level))
}

/**
 * The bootstrap policy of a profile at a level (a minor version). Aggregated roles already contain the collected rules.
 */
export function bootstrapPolicy(names: Names, level: number) {
  const rolesAt = (rows: readonly RoleRow[]) =>
    rows.filter((row) => existsAt(row, level)).map((row) => toRole(names, { ...row, rules: rulesAt(row.rules, level) }))
  const bindingsAt = (rows: readonly BindingRow[]) => rows.filter((row) => existsAt(row, level)).map((row) => toBinding(names, row))
  const plain = rolesAt([...clusterRoleRows(), ...controllerRows()])
  const clusterRoles = plain.map((role) => (role.aggregationRule ? { ...role, rules: aggregated(role, plain) } : role))
  return {
    clusterRoles,
    clusterRoleBindings: bindingsAt([...clusterBindingTable, ...controllerRows()]),
    roles: rolesAt(namespaceRoleTable),
    roleBindings: bindingsAt(namespaceBindingTable),
  }
}

/** `edit` aggregates `view`, and `admin` aggregates `edit`, so an aggregated role may itself be aggregated. */
function aggregated(role: RoleObject, all: readonly RoleObject[]): PolicyRule[] {
  const complete = all.map((one) => {
    const isSource = one !== role && one.aggregationRule && gives(one, role)
    return isSource ? { ...one, rules: aggregated(one, all) } : one
  })
  return aggregatedRules(role, complete)
}

function gives(source: RoleObject, target: RoleObject): boolean {
  const labels = Object.keys(source.metadata.labels ?? {})
  return (target.aggregationRule?.clusterRoleSelectors ?? []).some(({ matchLabels = {} }) => labels.some((label) => label in matchLabels))
}

/** In the tables `~` is the domain of groups, `~label` the domain of labels, and `core` the core group. */
interface RoleRow extends Lifetime {
  readonly name: string
  readonly namespace?: 'system' | 'public'
  /** The role that aggregates these rules. */
  readonly aggregatesTo?: string
  /** The role whose rules are collected here. */
  readonly gathers?: string
  readonly rules: readonly LevelRule[]
}

/** A rule that only some levels have. */
type LevelRule = PolicyRule & Lifetime

interface BindingRow extends Lifetime {
  readonly name: string
  readonly namespace?: 'system' | 'public'
  /** The role's name if it differs from the binding's. */
  readonly role?: string
  /** `user:NAME`, `group:NAME`, or `account:NAME` in the system namespace. */
  readonly subjects: readonly string[]
}

function toRole(names: Names, { name, namespace, aggregatesTo, gathers, rules }: RoleRow): RoleObject {
  const group = domainGroup(names, 'rbac.authorization')
  const label = (role: string) => ({ [groupName(names, 'rbac.authorization', `aggregate-to-${role}`)]: 'true' })
  return {
    apiVersion: `${group}/v1`,
    kind: namespace === undefined ? 'ClusterRole' : 'Role',
    metadata: metadataOf(names, name, namespace, aggregatesTo === undefined ? {} : label(aggregatesTo)),
    ...(gathers === undefined ? {} : { aggregationRule: { clusterRoleSelectors: [{ matchLabels: label(gathers) }] } }),
    rules: named(names, rules),
  }
}

function toBinding(names: Names, { name, namespace, role = name, subjects }: BindingRow): BindingObject {
  const group = domainGroup(names, 'rbac.authorization')
  return {
    apiVersion: `${group}/v1`,
    kind: namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding',
    metadata: metadataOf(names, name, namespace, {}),
    subjects: subjects.map((text) => {
      const colon = text.indexOf(':')
      const subject = text.slice(colon + 1)
      if (text.startsWith('account:')) return { kind: 'ServiceAccount', name: subject, namespace: names.systemNamespace }
      return { kind: text.startsWith('group:') ? 'Group' : 'User', apiGroup: group, name: subject }
    }),
    roleRef: { apiGroup: group, kind: namespace === undefined ? 'ClusterRole' : 'Role', name: role },
  }
}

function metadataOf(
  names: Names,
  name: string,
  namespace: 'system' | 'public' | undefined,
  labels: Readonly<Record<string, string>>,
): ApiObject['metadata'] {
  return {
    name: withDomain(names, name),
    ...(namespace === undefined ? {} : { namespace: namespace === 'system' ? names.systemNamespace : names.publicNamespace }),
    labels: { [domainLabel(names, 'bootstrapping')]: 'rbac-defaults', ...labels },
    annotations: { [autoUpdateAnnotation(names)]: 'true' },
  }
}

function named(names: Names, rules: readonly PolicyRule[]): PolicyRule[] {
  const words = (list: readonly string[]) => list.map((word) => withDomain(names, word))
  return rules.map((rule) => ({
    verbs: rule.verbs,
    ...(rule.apiGroups === undefined ? {} : { apiGroups: rule.apiGroups.map((word) => (word === 'core' ? '' : withDomain(names, word))) }),
    ...(rule.resources === undefined ? {} : { resources: rule.resources }),
    ...(rule.resourceNames === undefined ? {} : { resourceNames: words(rule.resourceNames) }),
    ...(rule.nonResourceURLs === undefined ? {} : { nonResourceURLs: rule.nonResourceURLs }),
  }))
}

function withDomain(names: Names, word: string): string {
  return word.replace(/^~label\b/, names.labelDomain).replace('~', names.apiDomain)
}

function on(verbs: string, groups: string, resources: string, resourceNames?: string): PolicyRule {
  return {
    verbs: verbs.split(' '),
    apiGroups: groups.split(' '),
    resources: resources.split(' '),
    ...(resourceNames === undefined ? {} : { resourceNames: resourceNames.split(' ') }),
  }
}

/** Rules that only read. */
const read = (groups: string, resources: string, resourceNames?: string) => on('get list watch', groups, resources, resourceNames)
/** Rules of the users who edit objects beside reading them. */
const write = (groups: string, resources: string) => on('create delete deletecollection patch update', groups, resources)

function paths(verbs: string, urls: string): PolicyRule {
  return { verbs: verbs.split(' '), nonResourceURLs: urls.split(' ') }
}

const from = (since: number, rule: LevelRule): LevelRule => ({ ...rule, since })
const upTo = (until: number, rule: LevelRule): LevelRule => ({ ...rule, until })

function clusterRoleRows(): RoleRow[] {
  return Object.entries(clusterRoleTable).map(([name, row]) => ({ name, ...(Array.isArray(row) ? { rules: row } : row) }))
}

/** The roles of controllers, each with its binding. */
function controllerRows(): (RoleRow & BindingRow)[] {
  return Object.entries(controllerTable).map(([account, rules]) => ({
    name: `system:controller:${account}`,
    rules,
    subjects: [`account:${account}`],
    ...(Object.hasOwn(newControllers, account) ? { since: newControllers[account] } : {}),
  }))
}

/** The user of a process with all controllers. Its certificate has no groups. */
export const controllersUser = 'system:controllers'

/** The role that lets the node controllers watch nodes, Pods and leases. */
const nodeWatchers = 'system:controllers:nodes'

/** The role that lets the controller of device claims watch templates. */
const templateWatchers = 'system:controllers:templates'

/** Accounts with roles that no controller of this project uses. */
const foreignAccounts =
  'kube-apiserver-serving-clustertrustbundle-publisher legacy-service-account-token-cleaner podcertificaterequestcleaner route-controller ' +
  'selinux-warning-controller service-cidrs-controller service-controller'

/** The permissions of a component that elects its leader: by ConfigMaps, and later by Leases and candidates. */
const electingRules = (component: string): LevelRule[] => [
  upTo(34, on('watch', 'core', 'configmaps')),
  upTo(34, on('get update', 'core', 'configmaps', component)),
  from(31, on('create get list update watch', 'coordination.~', 'leases')),
  from(31, on('create get list update watch', 'coordination.~', 'leasecandidates')),
]

/** The permissions that most controllers have besides their own. */
const ofEvents = on('create patch update', 'core events.~', 'events')

/** Controllers that only some levels have: account → the first level with its role. */
const newControllers: Readonly<Record<string, number>> = {
  'legacy-service-account-token-cleaner': 29,
  'selinux-warning-controller': 33,
  'service-cidrs-controller': 33,
  'resource-claim-controller': 34,
  'volumeattributesclass-protection-controller': 34,
  'device-taint-eviction-controller': 36,
  'kube-apiserver-serving-clustertrustbundle-publisher': 37,
  podcertificaterequestcleaner: 37,
}

const editedToo =
  'persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets serviceaccounts services services/proxy'
const seenToo = 'limitranges namespaces/status pods/log pods/status replicationcontrollers/status resourcequotas resourcequotas/status'

const clusterRoleTable: Readonly<Record<string, LevelRule[] | Omit<RoleRow, 'name'>>> = {
  'cluster-admin': [on('*', '*', '*'), paths('*', '*')],
  'system:discovery': [paths('get', '/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/')],
  'system:monitoring': [
    upTo(25, paths('get', '/healthz /healthz/* /livez /livez/* /metrics /readyz /readyz/*')),
    from(26, upTo(35, paths('get', '/healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/*'))),
    from(36, paths('get', '/flagz /healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/* /statusz')),
    from(34, on('get', 'core', 'nodes/metrics')),
  ],
  'system:basic-user': [
    on('create', 'authorization.~', 'selfsubjectaccessreviews selfsubjectrulesreviews'),
    from(27, on('create', 'authentication.~', 'selfsubjectreviews')),
  ],
  'system:public-info-viewer': [paths('get', '/healthz /livez /readyz /version /version/')],
  admin: { gathers: 'admin', rules: [] },
  edit: { aggregatesTo: 'admin', gathers: 'edit', rules: [] },
  view: { aggregatesTo: 'edit', gathers: 'view', rules: [] },
  'system:aggregate-to-admin': {
    aggregatesTo: 'admin',
    rules: [
      on('create', 'authorization.~', 'localsubjectaccessreviews'),
      on('create delete deletecollection get list patch update watch', 'rbac.authorization.~', 'rolebindings roles'),
    ],
  },
  'system:aggregate-to-edit': {
    aggregatesTo: 'edit',
    rules: [
      read('core', 'pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy'),
      on('impersonate', 'core', 'serviceaccounts'),
      write('core', 'pods pods/attach pods/exec pods/portforward pods/proxy'),
      on('create', 'core', 'pods/eviction'),
      upTo(34, write('core', `configmaps events ${editedToo}`)),
      from(35, write('core', `configmaps ${editedToo}`)),
      from(35, write('core events.~', 'events')),
      from(34, write('resource.~', 'resourceclaims resourceclaimtemplates')),
      on('create', 'core', 'serviceaccounts/token'),
      write(
        'apps',
        'daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale',
      ),
      write('autoscaling', 'horizontalpodautoscalers'),
      write('batch', 'cronjobs jobs'),
      write(
        'extensions',
        'daemonsets deployments deployments/rollback deployments/scale ingresses networkpolicies replicasets replicasets/scale replicationcontrollers/scale',
      ),
      write('policy', 'poddisruptionbudgets'),
      write('networking.~', 'ingresses networkpolicies'),
      on('create delete deletecollection get list patch update watch', 'coordination.~', 'leases'),
    ],
  },
  'system:aggregate-to-view': {
    aggregatesTo: 'view',
    rules: [
      read(
        'core',
        'configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status',
      ),
      upTo(34, read('core', `bindings events ${seenToo}`)),
      from(35, read('core', `bindings ${seenToo}`)),
      from(35, read('core events.~', 'events')),
      from(34, read('resource.~', 'resourceclaims resourceclaims/status resourceclaimtemplates')),
      read('core', 'namespaces'),
      read('discovery.~', 'endpointslices'),
      read(
        'apps',
        'controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status',
      ),
      read('autoscaling', 'horizontalpodautoscalers horizontalpodautoscalers/status'),
      read('batch', 'cronjobs cronjobs/status jobs jobs/status'),
      read(
        'extensions',
        'daemonsets daemonsets/status deployments deployments/scale deployments/status ingresses ingresses/status networkpolicies replicasets replicasets/scale replicasets/status replicationcontrollers/scale',
      ),
      read('policy', 'poddisruptionbudgets poddisruptionbudgets/status'),
      read('networking.~', 'ingresses ingresses/status networkpolicies'),
    ],
  },
  'system:heapster': [read('core', 'events namespaces nodes pods'), read('extensions', 'deployments')],
  'system:node': [
    on('create', 'authentication.~', 'tokenreviews'),
    on('create', 'authorization.~', 'localsubjectaccessreviews subjectaccessreviews'),
    read('core', 'services'),
    on('create get list watch', 'core', 'nodes'),
    on('patch update', 'core', 'nodes/status'),
    on('patch update', 'core', 'nodes'),
    upTo(34, on('create patch update', 'core', 'events')),
    from(35, ofEvents),
    read('core', 'pods'),
    on('create delete', 'core', 'pods'),
    on('patch update', 'core', 'pods/status'),
    on('create', 'core', 'pods/eviction'),
    read('core', 'configmaps secrets'),
    on('get', 'core', 'persistentvolumeclaims persistentvolumes'),
    on('get', 'core', 'endpoints'),
    on('create get list watch', 'certificates.~', 'certificatesigningrequests'),
    on('create delete get patch update', 'coordination.~', 'leases'),
    on('get', 'storage.~', 'volumeattachments'),
    on('create', 'core', 'serviceaccounts/token'),
    on('get patch update', 'core', 'persistentvolumeclaims/status'),
    read('storage.~', 'csidrivers'),
    on('create delete get patch update', 'storage.~', 'csinodes'),
    read('node.~', 'runtimeclasses'),
    from(34, on('get', 'core', 'serviceaccounts')),
    from(34, on('get', 'resource.~', 'resourceclaims')),
    from(34, on('deletecollection', 'resource.~', 'resourceslices')),
    from(37, read('certificates.~', 'clustertrustbundles')),
    from(37, on('create get list watch', 'certificates.~', 'podcertificaterequests')),
  ],
  'system:node-problem-detector': [on('get', 'core', 'nodes'), on('patch', 'core', 'nodes/status'), ofEvents],
  'system:kubelet-api-admin': [
    read('core', 'nodes'),
    on('proxy', 'core', 'nodes'),
    upTo(26, on('*', 'core', 'nodes/log nodes/metrics nodes/proxy nodes/spec nodes/stats')),
    from(27, on('*', 'core', 'nodes/log nodes/metrics nodes/proxy nodes/stats')),
    from(33, on('*', 'core', 'nodes/configz nodes/healthz nodes/pods')),
  ],
  'system:node-bootstrapper': [on('create get list watch', 'certificates.~', 'certificatesigningrequests')],
  'system:auth-delegator': [on('create', 'authentication.~', 'tokenreviews'), on('create', 'authorization.~', 'subjectaccessreviews')],
  'system:kube-aggregator': [read('core', 'endpoints services')],
  'system:kube-controller-manager': [
    ofEvents,
    on('create', 'coordination.~', 'leases'),
    on('get update', 'coordination.~', 'leases', 'kube-controller-manager'),
    upTo(27, on('create', 'core', 'endpoints')),
    upTo(27, on('get update', 'core', 'endpoints', 'kube-controller-manager')),
    on('create', 'core', 'secrets serviceaccounts'),
    on('delete', 'core', 'secrets'),
    on('get', 'core', 'configmaps namespaces secrets serviceaccounts'),
    on('update', 'core', 'secrets serviceaccounts'),
    on('create', 'authentication.~', 'tokenreviews'),
    on('create', 'authorization.~', 'subjectaccessreviews'),
    on('list watch', '*', '*'),
    on('create', 'core', 'serviceaccounts/token'),
  ],
  // An addition: kube-controller-manager watches with its own identity instead of that of each controller.
  [nodeWatchers]: {
    until: 36,
    rules: [on('list watch', 'core', 'nodes pods'), on('list watch', 'coordination.~', 'leases')],
  },
  // An addition: kube-controller-manager lists and watches everything with its own identity.
  [templateWatchers]: {
    since: 34,
    rules: [on('list watch', 'resource.~', 'resourceclaimtemplates')],
  },
  // An addition: the permissions of a process with all controllers under its own name; otherwise it impersonates their accounts.
  [controllersUser]: [
    on('impersonate', 'core', 'users', 'system:kube-scheduler'),
    on('get list patch update watch', 'apiextensions.~', 'customresourcedefinitions customresourcedefinitions/status'),
    // Deletes the objects of a definition, in groups that are not known in advance.
    on('delete deletecollection get list', '*', '*'),
    on(
      'create delete get list patch update watch',
      'flowcontrol.apiserver.~',
      'flowschemas flowschemas/status prioritylevelconfigurations prioritylevelconfigurations/status',
    ),
    on('delete get list patch update watch', 'core', 'secrets'),
    on('get list patch update watch', 'core', 'serviceaccounts'),
  ],
  'system:kube-dns': [on('list watch', 'core', 'endpoints services')],
  'system:persistent-volume-provisioner': [
    on('create delete get list watch', 'core', 'persistentvolumes'),
    on('get list update watch', 'core', 'persistentvolumeclaims'),
    read('storage.~', 'storageclasses'),
    on('watch', 'core', 'events'),
    ofEvents,
  ],
  'system:certificates.~:certificatesigningrequests:nodeclient': [on('create', 'certificates.~', 'certificatesigningrequests/nodeclient')],
  'system:certificates.~:certificatesigningrequests:selfnodeclient': [
    on('create', 'certificates.~', 'certificatesigningrequests/selfnodeclient'),
  ],
  'system:volume-scheduler': [
    on('get list patch update watch', 'core', 'persistentvolumes'),
    read('storage.~', 'storageclasses'),
    on('get list patch update watch', 'core', 'persistentvolumeclaims'),
  ],
  'system:certificates.~:legacy-unknown-approver': [on('approve', 'certificates.~', 'signers', '~label/legacy-unknown')],
  'system:certificates.~:kubelet-serving-approver': [on('approve', 'certificates.~', 'signers', '~label/kubelet-serving')],
  'system:certificates.~:kube-apiserver-client-approver': [on('approve', 'certificates.~', 'signers', '~label/kube-apiserver-client')],
  'system:certificates.~:kube-apiserver-client-kubelet-approver': [
    on('approve', 'certificates.~', 'signers', '~label/kube-apiserver-client-kubelet'),
  ],
  'system:service-account-issuer-discovery': [
    upTo(27, paths('get', '/.well-known/openid-configuration /openid/v1/jwks')),
    from(28, paths('get', '/.well-known/openid-configuration /.well-known/openid-configuration/ /openid/v1/jwks /openid/v1/jwks/')),
  ],
  'system:cluster-trust-bundle-discovery': { since: 37, rules: [read('certificates.~', 'clustertrustbundles')] },
  'system:node-proxier': [
    on('list watch', 'core', 'endpoints services'),
    read('core', 'nodes'),
    ofEvents,
    on('list watch', 'discovery.~', 'endpointslices'),
    from(33, on('list watch', 'networking.~', 'servicecidrs')),
  ],
  'system:kube-scheduler': [
    ofEvents,
    on('create', 'coordination.~', 'leases'),
    upTo(30, on('get update', 'coordination.~', 'leases', 'kube-scheduler')),
    from(31, on('get list update watch', 'coordination.~', 'leases', 'kube-scheduler')),
    from(31, on('create delete deletecollection get list patch update watch', 'coordination.~', 'leasecandidates')),
    upTo(27, on('create', 'core', 'endpoints')),
    upTo(27, on('get update', 'core', 'endpoints', 'kube-scheduler')),
    read('core', 'nodes'),
    on('delete get list watch', 'core', 'pods'),
    on('create', 'core', 'bindings pods/binding'),
    on('patch update', 'core', 'pods/status'),
    read('core', 'replicationcontrollers services'),
    read('apps extensions', 'replicasets'),
    read('apps', 'statefulsets'),
    read('policy', 'poddisruptionbudgets'),
    read('core', 'persistentvolumeclaims persistentvolumes'),
    on('create', 'authentication.~', 'tokenreviews'),
    on('create', 'authorization.~', 'subjectaccessreviews'),
    read('storage.~', 'csinodes'),
    read('core', 'namespaces'),
    read('storage.~', 'csidrivers'),
    read('storage.~', 'csistoragecapacities'),
    from(34, on('update', 'core', 'pods/finalizers')),
    from(32, read('storage.~', 'volumeattachments')),
    from(34, read('resource.~', 'deviceclasses resourceslices')),
    from(34, on('get list patch update watch', 'resource.~', 'resourceclaims resourceclaims/status')),
    from(36, on('create delete', 'resource.~', 'resourceclaims')),
    from(36, on('patch update', 'resource.~', 'resourceclaims/binding')),
    from(37, read('resource.~', 'devicetaintrules')),
  ],
}

/** The roles of controllers, by the name of the service account that each impersonates. */
const controllerTable: Readonly<Record<string, readonly LevelRule[]>> = {
  'clusterrole-aggregation-controller': [on('escalate get list patch update watch', 'rbac.authorization.~', 'clusterroles')],
  'generic-garbage-collector': [on('delete get list patch update watch', '*', '*'), ofEvents],
  'namespace-controller': [
    on('delete get list watch', 'core', 'namespaces'),
    on('update', 'core', 'namespaces/finalize namespaces/status'),
    on('delete deletecollection get list', '*', '*'),
    from(32, on('watch', '*', '*')),
  ],
  'replication-controller': [
    on('get list update watch', 'core', 'replicationcontrollers'),
    on('update', 'core', 'replicationcontrollers/status'),
    on('update', 'core', 'replicationcontrollers/finalizers'),
    on('create delete list patch watch', 'core', 'pods'),
    ofEvents,
  ],
  'resourcequota-controller': [on('list watch', '*', '*'), on('update', 'core', 'resourcequotas/status'), ofEvents],
  'service-account-controller': [
    // An addition: kube-controller-manager reads with one identity, while each controller here reads with its own.
    read('core', 'namespaces serviceaccounts'),
    on('create', 'core', 'serviceaccounts'),
    ofEvents,
  ],
  'certificate-controller': [
    on('delete get list watch', 'certificates.~', 'certificatesigningrequests'),
    on('update', 'certificates.~', 'certificatesigningrequests/approval certificatesigningrequests/status'),
    on('approve', 'certificates.~', 'signers', '~label/kube-apiserver-client-kubelet'),
    on(
      'sign',
      'certificates.~',
      'signers',
      '~label/kube-apiserver-client ~label/kube-apiserver-client-kubelet ~label/kubelet-serving ~label/legacy-unknown',
    ),
    on('create', 'authorization.~', 'subjectaccessreviews'),
    ofEvents,
  ],
  'pvc-protection-controller': [
    on('get list update watch', 'core', 'persistentvolumeclaims'),
    from(36, on('update', 'core', 'persistentvolumeclaims/status')),
    read('core', 'pods'),
    ofEvents,
  ],
  'pv-protection-controller': [on('get list update watch', 'core', 'persistentvolumes'), ofEvents],
  // From newer versions of kube-apiserver.
  'storage-version-migrator-controller': [
    on('list patch', '*', '*'),
    read('storagemigration.~', 'storageversionmigrations'),
    on('update', 'storagemigration.~', 'storageversionmigrations/status'),
    ofEvents,
  ],
  'validatingadmissionpolicy-status-controller': [
    read('admissionregistration.~', 'validatingadmissionpolicies'),
    on('get patch update', 'admissionregistration.~', 'validatingadmissionpolicies/status'),
    // Policies are checked again after definitions change.
    read('apiextensions.~', 'customresourcedefinitions'),
    ofEvents,
  ],
  'root-ca-cert-publisher': [read('core', 'configmaps namespaces'), on('create update', 'core', 'configmaps'), ofEvents],
  // No process of this project uses the following accounts; a kube-controller-manager with this server impersonates them.
  'attachdetach-controller': [
    on('list watch', 'core', 'persistentvolumeclaims persistentvolumes'),
    read('core', 'nodes'),
    on('patch update', 'core', 'nodes/status'),
    on('list watch', 'core', 'pods'),
    ofEvents,
    on('create delete get list watch', 'storage.~', 'volumeattachments'),
    read('storage.~', 'csidrivers'),
    read('storage.~', 'csinodes'),
  ],
  'cronjob-controller': [
    on('get list update watch', 'batch', 'cronjobs'),
    on('create delete get list patch update watch', 'batch', 'jobs'),
    on('update', 'batch', 'cronjobs/status'),
    on('update', 'batch', 'cronjobs/finalizers'),
    on('delete list', 'core', 'pods'),
    from(32, on('watch', 'core', 'pods')),
    ofEvents,
  ],
  'daemon-set-controller': [
    read('apps extensions', 'daemonsets'),
    on('update', 'apps extensions', 'daemonsets/status'),
    on('update', 'apps extensions', 'daemonsets/finalizers'),
    on('list watch', 'core', 'nodes'),
    on('create delete list patch watch', 'core', 'pods'),
    on('create', 'core', 'pods/binding'),
    on('create delete get list patch update watch', 'apps', 'controllerrevisions'),
    ofEvents,
  ],
  'deployment-controller': [
    on('get list update watch', 'apps extensions', 'deployments'),
    on('update', 'apps extensions', 'deployments/status'),
    on('update', 'apps extensions', 'deployments/finalizers'),
    on('create delete get list patch update watch', 'apps extensions', 'replicasets'),
    on('get list update watch', 'core', 'pods'),
    ofEvents,
  ],
  'disruption-controller': [
    read('apps extensions', 'deployments'),
    read('apps extensions', 'replicasets'),
    read('core', 'replicationcontrollers'),
    read('policy', 'poddisruptionbudgets'),
    read('apps', 'statefulsets'),
    on('update', 'policy', 'poddisruptionbudgets/status'),
    // An addition: each controller reads with its own identity; newer controllers also reset conditions of Pods.
    read('core', 'pods'),
    on('patch update', 'core', 'pods/status'),
    on('get', '*', '*/scale'),
    ofEvents,
  ],
  'endpoint-controller': [
    read('core', 'pods services'),
    on('create delete get list update watch', 'core', 'endpoints'),
    on('create', 'core', 'endpoints/restricted'),
    ofEvents,
  ],
  'endpointslice-controller': [
    read('core', 'nodes pods services'),
    on('update', 'core', 'services/finalizers'),
    on('create delete get list update watch', 'discovery.~', 'endpointslices'),
    ofEvents,
  ],
  'endpointslicemirroring-controller': [
    read('core', 'endpoints services'),
    on('update', 'core', 'services/finalizers'),
    on('update', 'core', 'endpoints/finalizers'),
    on('create delete get list update watch', 'discovery.~', 'endpointslices'),
    ofEvents,
  ],
  'expand-controller': [
    on('get list patch update watch', 'core', 'persistentvolumes'),
    on('patch update', 'core', 'persistentvolumeclaims/status'),
    read('core', 'persistentvolumeclaims'),
    upTo(31, read('storage.~', 'storageclasses')),
    upTo(31, on('get', 'core', 'endpoints secrets')),
    upTo(35, on('get', 'core', 'services')),
    ofEvents,
  ],
  'ephemeral-volume-controller': [
    read('core', 'pods'),
    on('update', 'core', 'pods/finalizers'),
    on('create get list watch', 'core', 'persistentvolumeclaims'),
    ofEvents,
  ],
  'horizontal-pod-autoscaler': [
    read('autoscaling', 'horizontalpodautoscalers'),
    on('update', 'autoscaling', 'horizontalpodautoscalers/status'),
    on('get update', '*', '*/scale'),
    on('list', 'core', 'pods'),
    on('list', 'metrics.~', 'pods'),
    on('get list', 'custom.metrics.~', '*'),
    on('get list', 'external.metrics.~', '*'),
    upTo(26, on('get', 'core', 'services/proxy', 'http:heapster: https:heapster:')),
    from(32, on('watch', 'core metrics.~', 'pods')),
    from(32, on('watch', 'custom.metrics.~ external.metrics.~', '*')),
    ofEvents,
  ],
  'job-controller': [
    on('get list patch update watch', 'batch', 'jobs'),
    on('update', 'batch', 'jobs/status'),
    on('update', 'batch', 'jobs/finalizers'),
    on('create delete list patch watch', 'core', 'pods'),
    ofEvents,
  ],
  'node-controller': [
    on('delete get list patch update', 'core', 'nodes'),
    on('patch update', 'core', 'nodes/status'),
    on('patch update', 'core', 'pods/status'),
    on('delete get list', 'core', 'pods'),
    upTo(29, on('create get list update', 'networking.~', 'clustercidrs')),
    from(32, on('watch', 'core', 'nodes pods')),
    from(37, read('coordination.~', 'leases')),
    ofEvents,
  ],
  'persistent-volume-binder': [
    on('create delete get list update watch', 'core', 'persistentvolumes'),
    on('update', 'core', 'persistentvolumes/status'),
    on('get list update watch', 'core', 'persistentvolumeclaims'),
    on('update', 'core', 'persistentvolumeclaims/status'),
    on('create delete get list watch', 'core', 'pods'),
    read('storage.~', 'storageclasses'),
    upTo(31, on('create delete get update', 'core', 'endpoints')),
    upTo(31, on('create delete', 'core', 'services')),
    upTo(35, on('get', 'core', 'services')),
    upTo(31, on('get', 'core', 'nodes secrets')),
    on('list', 'core', 'nodes'),
    from(32, on('watch', 'core', 'nodes')),
    ofEvents,
    on('watch', 'core', 'events'),
  ],
  'pod-garbage-collector': [
    on('delete list watch', 'core', 'pods'),
    on('get list', 'core', 'nodes'),
    from(32, on('watch', 'core', 'nodes')),
    from(26, on('patch', 'core', 'pods/status')),
  ],
  'replicaset-controller': [
    on('get list update watch', 'apps extensions', 'replicasets'),
    on('update', 'apps extensions', 'replicasets/status'),
    on('update', 'apps extensions', 'replicasets/finalizers'),
    on('create delete list patch watch', 'core', 'pods'),
    ofEvents,
  ],
  'route-controller': [on('list watch', 'core', 'nodes'), on('patch', 'core', 'nodes/status'), ofEvents],
  'service-controller': [
    read('core', 'services'),
    on('patch update', 'core', 'services/status'),
    on('list watch', 'core', 'nodes'),
    ofEvents,
  ],
  'statefulset-controller': [
    on('list watch', 'core', 'pods'),
    read('apps', 'statefulsets'),
    on('update', 'apps', 'statefulsets/status'),
    on('update', 'apps', 'statefulsets/finalizers'),
    on('create delete get patch update', 'core', 'pods'),
    on('create delete get list patch update watch', 'apps', 'controllerrevisions'),
    on('create get', 'core', 'persistentvolumeclaims'),
    from(27, on('delete list update watch', 'core', 'persistentvolumeclaims')),
    from(27, on('update', 'core', 'pods/finalizers')),
    ofEvents,
  ],
  'ttl-controller': [on('list patch update watch', 'core', 'nodes'), ofEvents],
  'legacy-service-account-token-cleaner': [
    on('get', 'core', 'configmaps', 'kube-apiserver-legacy-service-account-token-tracking'),
    on('delete patch', 'core', 'secrets'),
  ],
  'selinux-warning-controller': [read('core', 'persistentvolumeclaims persistentvolumes pods'), read('storage.~', 'csidrivers'), ofEvents],
  'service-cidrs-controller': [
    on('get list patch update watch', 'networking.~', 'servicecidrs'),
    on('patch update', 'networking.~', 'servicecidrs/finalizers servicecidrs/status'),
    read('networking.~', 'ipaddresses'),
    ofEvents,
  ],
  'resource-claim-controller': [
    read('core', 'pods'),
    on('update', 'core', 'pods/finalizers'),
    on('create delete get list watch', 'resource.~', 'resourceclaims'),
    on('patch update', 'resource.~', 'resourceclaims resourceclaims/status'),
    on('patch update', 'core', 'pods/status'),
    from(36, on('patch update', 'resource.~', 'resourceclaims/binding')),
    ofEvents,
  ],
  'volumeattributesclass-protection-controller': [
    read('core', 'persistentvolumeclaims persistentvolumes'),
    on('get list update watch', 'storage.~', 'volumeattributesclasses'),
    ofEvents,
  ],
  'device-taint-eviction-controller': [
    on('delete get list watch', 'core', 'pods'),
    on('patch update', 'core', 'pods/status'),
    read('resource.~', 'deviceclasses resourceclaims resourceslices'),
    from(37, read('resource.~', 'devicetaintrules')),
    from(37, on('patch update', 'resource.~', 'devicetaintrules/status')),
    ofEvents,
  ],
  'kube-apiserver-serving-clustertrustbundle-publisher': [
    on('attest', 'certificates.~', 'signers', '~label/kube-apiserver-serving'),
    on('create delete list update watch', 'certificates.~', 'clustertrustbundles'),
    ofEvents,
  ],
  podcertificaterequestcleaner: [on('delete get list watch', 'certificates.~', 'podcertificaterequests')],
  'ttl-after-finished-controller': [on('delete get list watch', 'batch', 'jobs'), ofEvents],
}

/** Service accounts that controllers of this project impersonate. */
const ownAccounts = Object.keys(controllerTable).filter((account) => !foreignAccounts.split(' ').includes(account))

const namespaceRoleTable: readonly RoleRow[] = [
  {
    name: 'system:controller:bootstrap-signer',
    namespace: 'public',
    rules: [read('core', 'configmaps'), on('update', 'core', 'configmaps', 'cluster-info'), ofEvents],
  },
  {
    name: 'extension-apiserver-authentication-reader',
    namespace: 'system',
    rules: [read('core', 'configmaps', 'extension-apiserver-authentication')],
  },
  { name: 'system:controller:bootstrap-signer', namespace: 'system', rules: [read('core', 'secrets')] },
  { name: 'system:controller:cloud-provider', namespace: 'system', rules: [on('create get list watch', 'core', 'configmaps')] },
  {
    name: 'system:controller:token-cleaner',
    namespace: 'system',
    rules: [on('delete get list watch', 'core', 'secrets'), ofEvents],
  },
  {
    name: controllersUser,
    namespace: 'system',
    rules: [
      on('impersonate', 'core', 'serviceaccounts', [...ownAccounts, 'bootstrap-signer', 'token-cleaner'].sort().join(' ')),
      on('create', 'coordination.~', 'leases'),
      on('get update', 'coordination.~', 'leases', 'controllers'),
      // The day from which on the use of tokens in Secrets is noted.
      on('create', 'core', 'configmaps'),
      on('update', 'core', 'configmaps', 'kube-apiserver-legacy-service-account-token-tracking'),
    ],
  },
  {
    name: 'system::leader-locking-kube-controller-manager',
    namespace: 'system',
    rules: electingRules('kube-controller-manager'),
  },
  {
    name: 'system::leader-locking-kube-scheduler',
    namespace: 'system',
    rules: electingRules('kube-scheduler'),
  },
]

const clusterBindingTable: readonly BindingRow[] = [
  { name: 'cluster-admin', subjects: ['group:system:masters'] },
  { name: 'system:monitoring', subjects: ['group:system:monitoring'] },
  { name: 'system:discovery', subjects: ['group:system:authenticated'] },
  { name: 'system:basic-user', subjects: ['group:system:authenticated'] },
  { name: 'system:public-info-viewer', subjects: ['group:system:authenticated', 'group:system:unauthenticated'] },
  { name: 'system:node-proxier', subjects: ['user:system:kube-proxy'] },
  { name: 'system:kube-controller-manager', subjects: ['user:system:kube-controller-manager'] },
  { name: controllersUser, subjects: [`user:${controllersUser}`] },
  { name: nodeWatchers, until: 36, subjects: ['account:node-controller', 'account:pod-garbage-collector'] },
  { name: templateWatchers, since: 34, subjects: ['account:resource-claim-controller'] },
  { name: 'system:kube-dns', subjects: ['account:kube-dns'] },
  { name: 'system:kube-scheduler', subjects: ['user:system:kube-scheduler'] },
  { name: 'system:volume-scheduler', subjects: ['user:system:kube-scheduler'] },
  { name: 'system:node', subjects: [] },
  { name: 'system:service-account-issuer-discovery', subjects: ['group:system:serviceaccounts'] },
  { name: 'system:cluster-trust-bundle-discovery', since: 37, subjects: ['group:system:serviceaccounts'] },
]

const namespaceBindingTable: readonly BindingRow[] = [
  { name: 'system:controller:bootstrap-signer', namespace: 'public', subjects: ['account:bootstrap-signer'] },
  {
    name: 'system::extension-apiserver-authentication-reader',
    namespace: 'system',
    role: 'extension-apiserver-authentication-reader',
    subjects: ['user:system:kube-controller-manager', 'user:system:kube-scheduler'],
  },
  {
    name: 'system::leader-locking-kube-controller-manager',
    namespace: 'system',
    until: 30,
    subjects: ['user:system:kube-controller-manager', 'account:kube-controller-manager'],
  },
  {
    name: 'system::leader-locking-kube-controller-manager',
    namespace: 'system',
    since: 31,
    subjects: ['user:system:kube-controller-manager', 'account:kube-controller-manager', 'account:leader-election-controller'],
  },
  {
    name: 'system::leader-locking-kube-scheduler',
    namespace: 'system',
    subjects: ['user:system:kube-scheduler', 'account:kube-scheduler'],
  },
  { name: controllersUser, namespace: 'system', subjects: [`user:${controllersUser}`] },
  { name: 'system:controller:bootstrap-signer', namespace: 'system', subjects: ['account:bootstrap-signer'] },
  { name: 'system:controller:cloud-provider', namespace: 'system', subjects: ['account:cloud-provider'] },
  { name: 'system:controller:token-cleaner', namespace: 'system', subjects: ['account:token-cleaner'] },
]
