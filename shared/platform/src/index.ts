/** What touches the world: settings, logs, lifecycle, certificates, metrics, rpc. */
export {}
