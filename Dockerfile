# `graph-bandit` in a container; `docker build --target test` makes one that also has what the tests need.
#
#     docker build -t graph-bandit .
#     docker run --rm -it -p 127.0.0.1:8765:8765 -v "$PWD/campaigns:/work" graph-bandit serve . --host 0.0.0.0 \
#         --address http://127.0.0.1:8765
#     docker run --rm -it -v "$PWD:/work" graph-bandit suggest pool.csv --measured measured.csv --maximize y --out next.csv
#
#     docker build --target test -t graph-bandit-test . && docker run --rm -it graph-bandit-test

FROM debian:bookworm-slim AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends python3 python3-venv \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
# PyPI's torch brings CUDA, some gigabytes; this build is for CPUs.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
RUN python3 -m venv /opt/graph-bandit \
    && /opt/graph-bandit/bin/pip install --no-cache-dir -c constraints.txt --index-url "$TORCH_INDEX" torch \
    && /opt/graph-bandit/bin/pip install --no-cache-dir -c constraints.txt '.[chem,parquet,serve]' \
    && /opt/graph-bandit/bin/pip uninstall --yes pip

FROM build AS test
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git libxext6 libxrender1 make \
    && rm -rf /var/lib/apt/lists/*
RUN useradd --create-home tester && chown -R tester /src
USER tester
RUN python3 -m venv .venv && .venv/bin/pip install --no-cache-dir -c constraints.txt --index-url "$TORCH_INDEX" torch
RUN make .venv/.installed-all
CMD ["make", "test"]

# RDKit draws molecules by libXrender and libXext, which its wheel leaves to the system.
FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libxext6 libxrender1 python3 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --home-dir /work chemist
COPY --from=build /opt/graph-bandit /opt/graph-bandit
ENV PATH=/opt/graph-bandit/bin:$PATH
USER chemist
WORKDIR /work
EXPOSE 8765
ENTRYPOINT ["graph-bandit"]
CMD ["--help"]
