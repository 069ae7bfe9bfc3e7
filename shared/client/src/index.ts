/** The client: requests, client configuration, watch and informer. */
export {}
