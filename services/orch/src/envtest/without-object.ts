/**
 * Flags of kube-apiserver that only tune parts that this server does not have. They are accepted, and one line of the log names them. Grouped by
 * part, then by flag; a `?` marks booleans.
 */
const tuned: Readonly<Record<string, string>> = {
  'logging of klog': `
    add-dir-header? alsologtostderr? log-backtrace-at log-dir log-file log-file-max-size log-flush-frequency log-json-info-buffer-size
    log-json-split-stream? log-text-info-buffer-size log-text-split-stream? logging-format logtostderr? one-output? skip-headers? skip-log-headers? stderrthreshold v vmodule
    enable-logs-handler?`,
  'the watch cache and the way to etcd': `
    default-watch-cache-size delete-collection-workers etcd-compaction-interval etcd-count-metric-poll-period etcd-db-metric-poll-interval
    etcd-healthcheck-timeout etcd-readycheck-timeout lease-reuse-duration-seconds storage-backend storage-media-type watch-cache?
    watch-cache-sizes`,
  'profiles of Go': 'contention-profiling?',
  'calls to kubelets': 'kubelet-https? kubelet-read-only-port',
  'several servers of one cluster': `
    apiserver-count endpoint-reconciler-type identity-lease-duration-seconds identity-lease-renew-interval-seconds
    master-service-namespace`,
  'metrics of Go': 'allow-metric-labels disabled-metrics',
  'sockets and shutdown': `
    external-hostname livez-grace-period max-connection-bytes-per-sec permit-address-sharing? permit-port-sharing?`,
  'load balancers of a cloud': 'cloud-provider-gce-l7lb-src-cidrs cloud-provider-gce-lb-src-cidrs',
  'the controller of garbage': 'enable-garbage-collector?',
}

/** A flag that is accepted and has no effect. */
export interface FlagWithoutObject {
  readonly flag: `--${string}`
  readonly isBoolean: boolean
  /** The part that the flag tunes in kube-apiserver. */
  readonly tunes: string
}

/** All flags without effect, by name. */
export const flagsWithoutObject: ReadonlyMap<string, FlagWithoutObject> = new Map(
  Object.entries(tuned).flatMap(([tunes, names]) =>
    names
      .trim()
      .split(/\s+/)
      .map((name) => {
        const flag = `--${name.replace('?', '')}` as const
        return [flag, { flag, isBoolean: name.endsWith('?'), tunes }]
      }),
  ),
)
