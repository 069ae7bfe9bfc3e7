/** The parts of a Pod that quotas read. */
export interface PodToCount {
  readonly metadata?: { readonly deletionTimestamp?: string | null; readonly deletionGracePeriodSeconds?: number }
  readonly spec?: {
    readonly containers?: readonly ContainerToCount[] | null
    readonly initContainers?: readonly ContainerToCount[]
    readonly overhead?: Readonly<Record<string, string>>
    readonly resources?: ResourcesToCount
    readonly activeDeadlineSeconds?: number
    readonly priorityClassName?: string
    readonly affinity?: {
      readonly podAffinity?: PodAffinityToCount
      readonly podAntiAffinity?: PodAffinityToCount
    }
  }
  readonly status?: { readonly phase?: string }
}

/** The parts of a container that quotas read. */
export interface ContainerToCount {
  readonly name?: string
  readonly restartPolicy?: string
  readonly resources?: ResourcesToCount
}

/** Amounts by resource. */
export interface ResourcesToCount {
  readonly requests?: Readonly<Record<string, string>>
  readonly limits?: Readonly<Record<string, string>>
}

/** Affinity terms, which may name other namespaces. */
export interface PodAffinityToCount {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly AffinityTermToCount[]
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly { readonly podAffinityTerm?: AffinityTermToCount }[]
}

/** An affinity term. */
interface AffinityTermToCount {
  readonly namespaces?: readonly string[]
  readonly namespaceSelector?: unknown
}

/** The parts of a Service that quotas read. */
export interface ServiceToCount {
  readonly spec?: {
    readonly type?: string
    readonly ports?: readonly { readonly nodePort?: number }[]
    readonly allocateLoadBalancerNodePorts?: boolean
  }
}

/** The parts of a ResourceClaim that quotas read. */
export interface DeviceClaimToCount {
  readonly spec?: {
    readonly devices?: {
      readonly requests?:
        | readonly (DeviceRequestToCount & {
            readonly exactly?: DeviceRequestToCount | null
            readonly firstAvailable?: readonly DeviceRequestToCount[] | null
          })[]
        | null
    }
  }
}

/** A request for devices of one class; in v1beta1 it is flat. */
export interface DeviceRequestToCount {
  readonly deviceClassName?: string
  readonly allocationMode?: string
  readonly count?: number | bigint
}

/** The parts of a PersistentVolumeClaim that quotas read. */
export interface ClaimToCount {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> }
  readonly spec?: {
    readonly storageClassName?: string
    readonly volumeAttributesClassName?: string
    readonly resources?: { readonly requests?: Readonly<Record<string, string>> }
  }
  readonly status?: {
    readonly currentVolumeAttributesClassName?: string
    readonly modifyVolumeStatus?: { readonly targetVolumeAttributesClassName?: string }
  }
}
