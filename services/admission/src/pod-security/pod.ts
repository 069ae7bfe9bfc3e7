/** The members of a Pod, or of a Pod template, that the checks read. Both have passed validation, so the types hold. */
export interface PodView {
  readonly annotations: Readonly<Record<string, string>>
  readonly spec: PodSpecView
}

export interface PodSpecView {
  readonly containers?: readonly ContainerView[] | null
  readonly initContainers?: readonly ContainerView[]
  readonly ephemeralContainers?: readonly ContainerView[]
  readonly volumes?: readonly ({ readonly name: string } & Readonly<Record<string, unknown>>)[]
  readonly securityContext?: SecurityContextView & { readonly sysctls?: readonly { readonly name: string }[] }
  readonly hostNetwork?: boolean
  readonly hostPID?: boolean
  readonly hostIPC?: boolean
  readonly hostUsers?: boolean
  readonly os?: { readonly name: string }
  readonly runtimeClassName?: string
}

export interface ContainerView {
  readonly name: string
  readonly image?: string
  readonly ports?: readonly { readonly hostPort?: number }[]
  readonly securityContext?: SecurityContextView & {
    readonly privileged?: boolean
    readonly allowPrivilegeEscalation?: boolean
    readonly procMount?: string
    readonly capabilities?: { readonly add?: readonly string[]; readonly drop?: readonly string[] }
  }
  readonly livenessProbe?: CallView
  readonly readinessProbe?: CallView
  readonly startupProbe?: CallView
  readonly lifecycle?: { readonly postStart?: CallView; readonly preStop?: CallView }
}

/** A probe or a hook with an optional host, the Pod by default. */
export interface CallView {
  readonly httpGet?: { readonly host?: string }
  readonly tcpSocket?: { readonly host?: string }
}

/** The members of the security context that Pods and containers share. */
export interface SecurityContextView {
  readonly runAsNonRoot?: boolean
  readonly runAsUser?: number
  readonly seLinuxOptions?: { readonly type?: string; readonly user?: string; readonly role?: string }
  readonly seccompProfile?: { readonly type: string }
  readonly appArmorProfile?: { readonly type: string }
  readonly windowsOptions?: { readonly hostProcess?: boolean }
}

/** All containers, in the order of messages. */
export function containersOf(spec: PodSpecView): readonly ContainerView[] {
  return [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])]
}
